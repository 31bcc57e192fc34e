/* Which directory is the cache of structure files: none that other users can write to. */
#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/structure-cache.h"

#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
};

static char *in_folder(const struct folder *folder, const char *name)
{
    return mem_printf("%s/%s", folder->path, name);
}

static int make_folder(void **state)
{
    struct folder *folder = mem_alloc(sizeof *folder);
    strcpy(folder->path, "/tmp/test-cache-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    char *command = mem_printf("rm -rf %s", folder->path);
    int status = system(command);
    free(command);
    free(folder);
    return status;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The cache for a home directory and a TMPDIR in the folder; the caller frees it. Takes the note. */
static char *cache_in(const struct folder *folder, char **note)
{
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder->path, 1);
    setenv("TMPDIR", folder->path, 1);
    return structure_cache_directory(note);
}

TEST_WITH(make_folder, remove_folder, test_directory_that_others_can_write_to)
{
    const struct folder *folder = *state;
    char *note, *usual = in_folder(folder, ".cache/hpctoolkit/structure");
    char *own = mem_printf("%s/hpctoolkit-%lu", folder->path, (unsigned long)geteuid());
    char *inner = mem_printf("%s/structure", own);
    char *expected = mem_printf("%s: other users can write to it; the cache is in %s", usual, inner);
    free(cache_in(folder, &note));
    for (mode_t writers = S_IWOTH; writers <= S_IWGRP; writers *= S_IWGRP / S_IWOTH) {
        assert_int_equal(chmod(usual, 0700 | writers), 0);
        char *directory = cache_in(folder, &note);
        assert_string_equal(directory, inner);
        assert_string_equal(note, expected);
        free(directory);
        free(note);
        const char *const of_fallback[] = {own, inner};
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(chmod(of_fallback[i], 0700 | writers), 0);
            assert_null(cache_in(folder, &note));
            assert_int_equal(chmod(of_fallback[i], 0700), 0);
            free(note);
        }
    }
    free(expected);
    free(inner);
    free(own);
    free(usual);
}

/* Whether the fallback is used. */
static bool is_used(const struct folder *folder)
{
    char *note, *usual = in_folder(folder, ".cache");
    write_text(usual, ""); /* not usable */
    char *directory = cache_in(folder, &note);
    bool is = directory != NULL;
    assert_non_null(note);
    free(directory);
    free(note);
    free(usual);
    return is;
}

/* In a public place, another user may have made the directory first. */
TEST_WITH(make_folder, remove_folder, test_fallback_that_is_a_link)
{
    const struct folder *folder = *state;
    char *elsewhere = in_folder(folder, "elsewhere");
    char *own = mem_printf("%s/hpctoolkit-%lu", folder->path, (unsigned long)geteuid());
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, own), 0);
    assert_false(is_used(folder));
    assert_int_equal(unlink(own), 0);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_true(is_used(folder));
    free(own);
    free(elsewhere);
}

TEST_WITH(make_folder, remove_folder, test_fallback_of_another_user)
{
    const struct folder *folder = *state;
    if (geteuid() != 0)
        skip();
    char *own = mem_printf("%s/hpctoolkit-%lu", folder->path, (unsigned long)geteuid());
    assert_int_equal(mkdir(own, 0700), 0);
    assert_int_equal(chown(own, 65533, 65533), 0);
    assert_false(is_used(folder));
    assert_int_equal(chown(own, 0, 0), 0);
    assert_true(is_used(folder));
    free(own);
}

TEST(test_path)
{
    static const uint8_t id[] = {0x0a, 0xb1, 0xff};
    char *path = structure_cache_path("/c", id, sizeof id, 0x12);
    assert_string_equal(path, "/c/0ab1ff-0000000000000012.hpcstruct");
    free(path);
    static const uint8_t long_id[1000];
    path = structure_cache_path("/c", long_id, sizeof long_id, UINT64_MAX);
    assert_true(strlen(path) < 200); /* names of files are limited */
    free(path);
}
