#include "tests/unit/cmocka_suite.h"

#include "lib/path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_replaced(const struct path_rules *rules, const char *path, const char *expected)
{
    char *replaced = path_replace(rules, path);
    if (expected)
        assert_string_equal(replaced, expected);
    else
        assert_null(replaced);
    free(replaced);
}

TEST(replacements_are_of_whole_components)
{
    struct path_rules rules = {0};
    assert_true(path_add_replacement(&rules, "/old/=/new"));
    assert_true(path_add_replacement(&rules, "/old/sub=/never"));
    assert_true(path_add_replacement(&rules, "rel=/r=s"));
    assert_true(path_add_replacement(&rules, "/gone="));
    assert_replaced(&rules, "/old", "/new");
    assert_replaced(&rules, "/old/sub/a.c", "/new/sub/a.c");
    assert_replaced(&rules, "/older/a.c", NULL);
    assert_replaced(&rules, "/x/old/a.c", NULL);
    assert_replaced(&rules, "rel/a.c", "/r=s/a.c");
    assert_replaced(&rules, "/gone/a.c", "/a.c");
    path_rules_free(&rules);
    assert_true(path_add_replacement(&rules, "/=/chroot/"));
    assert_replaced(&rules, "/a.c", "/chroot/a.c");
    path_rules_free(&rules);
    assert_false(path_add_replacement(&rules, "nothing"));
    assert_false(path_add_replacement(&rules, "=x"));
}

static char folder[64];

static char *in_folder(const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

static const char *const folders[] = {"one", "one/deep", "two", "two/src", "two/src/deep"};
static const char *const files[] = {"one/a.c", "one/deep/b.c", "two/src/deep/b.c", "two/a.c"};

static int make_files(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/test_path.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = in_folder(folders[i]);
        mkdir(path, 0700);
        free(path);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = in_folder(files[i]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
        free(path);
    }
    return 0;
}

static int remove_files(void **state)
{
    for (size_t i = sizeof files / sizeof *files; i-- > 0;) {
        char *path = in_folder(files[i]);
        unlink(path);
        free(path);
    }
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        char *path = in_folder(folders[i]);
        rmdir(path);
        free(path);
    }
    return rmdir(folder);
}

/* A path_visitor. */
static bool take_first(void *context, const char *file, const char *tree)
{
    *(char **)context = mem_strdup(file);
    return true;
}

static void assert_found(const struct path_rules *rules, const char *path, const char *expected)
{
    char *found = NULL, *full = expected ? in_folder(expected) : NULL;
    assert_int_equal(path_visit_sources(rules, path, take_first, &found), expected != NULL);
    if (full)
        assert_string_equal(found, full);
    else
        assert_null(found);
    free(found);
    free(full);
}

TEST_WITH(make_files, remove_files, sources_are_found_by_the_longest_suffix)
{
    struct path_rules rules = {0};
    char *itself = in_folder("one/a.c"), *directory = in_folder("one/deep");
    assert_found(&rules, itself, "one/a.c");
    assert_found(&rules, directory, NULL);
    assert_found(&rules, "/build/src/deep/b.c", NULL);
    vec_push(&rules.search, in_folder("one"));
    vec_push(&rules.search, in_folder("two"));
    assert_found(&rules, "/build/src/deep/b.c", "two/src/deep/b.c");
    assert_found(&rules, "/build/lib/deep/b.c", "one/deep/b.c");
    assert_found(&rules, "a.c", "one/a.c");
    assert_found(&rules, "/build/a.c/", NULL);
    assert_found(&rules, "/build/c.c", NULL);
    char *rule = mem_printf("/build=%s/two", folder);
    path_add_replacement(&rules, rule);
    assert_found(&rules, "/build/a.c", "two/a.c");
    free(rule);
    rule = mem_printf("%s/one=%s/two", folder, folder); /* the file is where it was */
    path_add_replacement(&rules, rule);
    assert_found(&rules, itself, "one/a.c");
    free(rule);
    free(itself);
    free(directory);
    path_rules_free(&rules);
}
