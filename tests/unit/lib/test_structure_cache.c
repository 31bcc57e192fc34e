/* Files that appear when they are complete, and the cache of structure files. */
#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/safe-output.h"
#include "lib/structure-cache.h"
#include "lib/structure-image.h"

#include <dirent.h>
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

static size_t count_files(const struct folder *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder->path);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void check_contents(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen(expected));
    assert_string_equal(text, expected);
    fclose(file);
}

/* ---- atomic files ---- */

TEST_WITH(make_folder, remove_folder, test_commit)
{
    const struct folder *folder = *state;
    char *path = in_folder(folder, "file"), *cause = NULL;
    struct atomic_file one, two;
    assert_true(atomic_file_begin(&one, path, &cause));
    fputs("one", one.out);
    fflush(one.out);
    assert_int_not_equal(access(path, F_OK), 0); /* not before it is complete */
    assert_true(atomic_file_begin(&two, path, &cause));
    fputs("two", two.out);
    assert_true(atomic_file_commit(&two, &cause));
    check_contents(path, "two");
    assert_true(atomic_file_commit(&one, &cause));
    check_contents(path, "one");
    assert_int_equal(count_files(folder), 1);
    free(path);
}

TEST_WITH(make_folder, remove_folder, test_abandon)
{
    const struct folder *folder = *state;
    char *path = in_folder(folder, "file"), *cause = NULL;
    struct atomic_file file;
    assert_true(atomic_file_begin(&file, path, &cause));
    fputs("half", file.out);
    atomic_file_abandon(&file);
    assert_int_equal(count_files(folder), 0);
    free(path);
}

TEST_WITH(make_folder, remove_folder, test_failures)
{
    const struct folder *folder = *state;
    char *path = in_folder(folder, "missing/file"), *cause = NULL;
    struct atomic_file file;
    assert_false(atomic_file_begin(&file, path, &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
    free(path);
    assert_true(atomic_file_begin(&file, "/dev/full", &cause)); /* written directly */
    fputs("something", file.out);
    assert_false(atomic_file_commit(&file, &cause));
    assert_string_equal(cause, "No space left on device");
    free(cause);
    assert_true(atomic_file_begin(&file, "/dev/null", &cause));
    fputs("something", file.out);
    assert_true(atomic_file_commit(&file, &cause));
    /* The directory vanishes in between. */
    char *inner = in_folder(folder, "inner");
    path = in_folder(folder, "inner/file");
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_true(atomic_file_begin(&file, path, &cause));
    assert_int_equal(unlink(file.temporary), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_false(atomic_file_commit(&file, &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
    free(inner);
    free(path);
}

/* ---- the cache ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST_WITH(make_folder, remove_folder, test_directory)
{
    const struct folder *folder = *state;
    char *note = NULL, *cache = in_folder(folder, "a/b"), *file = in_folder(folder, "plain");
    char *expected = in_folder(folder, "a/b/hpctoolkit/structure");
    setenv("XDG_CACHE_HOME", cache, 1);
    char *directory = structure_cache_directory(&note);
    assert_string_equal(directory, expected);
    assert_null(note);
    assert_int_equal(access(directory, W_OK), 0);
    free(directory);
    free(expected);
    /* Without XDG_CACHE_HOME: below HOME. */
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder->path, 1);
    directory = structure_cache_directory(&note);
    expected = in_folder(folder, ".cache/hpctoolkit/structure");
    assert_string_equal(directory, expected);
    free(directory);
    free(expected);
    /* If that is not usable: below TMPDIR, accessible to this user only. */
    write_text(file, "");
    setenv("HOME", file, 1);
    setenv("TMPDIR", folder->path, 1);
    directory = structure_cache_directory(&note);
    assert_non_null(directory);
    assert_non_null(note);
    free(note);
    char *own = mem_printf("%s/hpctoolkit-%lu", folder->path, (unsigned long)geteuid());
    assert_memory_equal(directory, own, strlen(own));
    struct stat status;
    assert_int_equal(stat(own, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    free(directory);
    assert_int_equal(chmod(own, 0777), 0);
    assert_null(structure_cache_directory(&note));
    assert_non_null(note);
    free(note);
    free(own);
    free(cache);
    free(file);
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

TEST_WITH(make_folder, remove_folder, test_has)
{
    const struct folder *folder = *state;
    char *path = in_folder(folder, "x.hpcstruct");
    assert_false(structure_cache_has(path));
    const struct {
        char start[IMAGE_MAGIC_SIZE + 1];
        size_t size;
        bool expected;
    } cases[] = {
        {STRUCTURE_GENERATOR, IMAGE_MAGIC_SIZE, true},
        {STRUCTURE_GENERATOR, IMAGE_MAGIC_SIZE + 1, true},
        {STRUCTURE_GENERATOR, IMAGE_MAGIC_SIZE - 1, false},
        {STRUCTURE_GENERATOR "1", IMAGE_MAGIC_SIZE, false},
        {"<HPCToolkitStruc", IMAGE_MAGIC_SIZE, false},
        {"", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(cases[i].start, 1, cases[i].size, file), cases[i].size);
        fclose(file);
        assert_int_equal(structure_cache_has(path), cases[i].expected);
    }
    free(path);
}
