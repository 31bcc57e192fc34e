/* The index of a set is read as it was written; damage is found. */
#include "tests/unit/cmocka_suite.h"

#include "lib/run-set.h"

#include <limits.h>
#include <unistd.h>

static char folder[] = "/tmp/run-set-XXXXXX";

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char *path = mem_printf("%s/" RUN_SET_INDEX, folder);
    unlink(path);
    free(path);
    return rmdir(folder);
}

static void add(struct run_set *set, unsigned workers, unsigned repeat, int status)
{
    struct set_run run = {workers, repeat, status, 1.5, mem_printf("run-%u-%u", workers, repeat)};
    run_set_add(set, run);
}

TEST(it_is_read_as_written)
{
    struct run_set set = {.command = mem_strdup("./app -n 5"), .serial = mem_strdup("./serial")};
    struct run_set read = {0};
    char *cause;
    add(&set, 4, 1, 3);
    add(&set, 0, 1, 0);
    add(&set, 4, 1, 0);
    assert_int_equal(set.runs.n, 2);
    assert_false(run_set_exists(folder));
    assert_true(run_set_write(&set, folder, &cause));
    assert_true(run_set_exists(folder));
    assert_true(run_set_read(&read, folder, &cause));
    assert_string_equal(read.command, "./app -n 5");
    assert_string_equal(read.serial, "./serial");
    assert_int_equal(read.runs.n, 2);
    const struct set_run *run = run_set_find(&read, 4, 1);
    assert_int_equal(run->status, 0);
    assert_true(run->wall == 1.5);
    assert_string_equal(run->directory, "run-4-1");
    assert_null(run_set_find(&read, 4, 2));
    run_set_free(&set);
    run_set_free(&read);
}

/* Commands have up to 2 MB (ARG_MAX). */
TEST(the_largest_is_read_as_written)
{
    size_t size = 2 << 20;
    char *command = mem_alloc(size + 1), *cause = NULL;
    memset(command, 'c', size);
    struct run_set set = {.command = mem_strdup(command), .serial = mem_strdup(command)};
    struct run_set read = {0};
    struct set_run run = {UINT_MAX, UINT_MAX, INT_MIN, 1e300, mem_strdup("run")};
    run_set_add(&set, run);
    assert_true(run_set_write(&set, folder, &cause));
    assert_true(run_set_read(&read, folder, &cause));
    assert_string_equal(read.command, command);
    assert_string_equal(read.serial, command);
    const struct set_run *found = run_set_find(&read, UINT_MAX, UINT_MAX);
    assert_non_null(found);
    assert_int_equal(found->status, INT_MIN);
    assert_true(found->wall == 1e300);
    run_set_free(&set);
    run_set_free(&read);
    free(command);
}

static void write_index(const char *text)
{
    char *path = mem_printf("%s/" RUN_SET_INDEX, folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    free(path);
}

#define HEAD "hpctoolkit-set 1\ncommand ./app\n"

TEST(damage_is_found)
{
    static const struct {
        const char *text;
        int line; /* that is damaged; 0: none */
    } indexes[] = {
        {HEAD, 0},
        {HEAD "run 1 1 0 0.5 a\n", 0},
        {HEAD "run 1 1 0 0.5 a", 0},
        {"", 1},
        {"hpctoolkit-set 2\ncommand ./app\n", 1},
        {"hpctoolkit-set 1\n", 2},
        {HEAD "run 1 1 0 0.5\n", 3},
        {HEAD "run 1 1 0 0.5 ../a\n", 3},
        {HEAD "run 1 1 0 0.5 .\n", 3},
        {HEAD "run 1 0 0 0.5 a\n", 0},
        {HEAD "run 0 0 0 0.5 a\n", 3},
        {HEAD "run 1 1 0 nan a\n", 3},
        {HEAD "run 1 1 0 -1 a\n", 3},
        {HEAD "run x\n", 3},
        {HEAD "run\n", 3},
        {HEAD "walk 1 1 0 0.5 a\n", 3},
    };
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        struct run_set set = {0};
        char *cause, *expected = mem_printf(RUN_SET_INDEX ": line %d is damaged", indexes[i].line);
        write_index(indexes[i].text);
        assert_int_equal(run_set_read(&set, folder, &cause), indexes[i].line == 0);
        if (indexes[i].line)
            assert_string_equal(cause, expected);
        free(cause);
        free(expected);
        run_set_free(&set);
    }
}

ALL_TESTS(make_folder, remove_folder);
