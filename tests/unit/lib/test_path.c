#include "tests/unit/cmocka_suite.h"

#include "lib/path.h"

#include <stdlib.h>

static void check(const char *path, const char *expected)
{
    char *normal = path_normalize(path);
    assert_string_equal(normal, expected);
    free(normal);
}

static void test_normalize(void **state)
{
    (void)state;
    check("/", "/");
    check("", ".");
    check(".", ".");
    check("a", "a");
    check("/a/b", "/a/b");
    check("//a//b/", "/a/b");
    check("./a/./b/.", "a/b");
    check("/a/../b", "/b");
    check("a/..", ".");
    check("a/b/../../c", "c");
    check("..", "..");
    check("../../a", "../../a");
    check("a/../../b", "../b");
    check("/..", "/");
    check("/../../a/..", "/");
    check("/a/...", "/a/...");
    check("a/.b/..c/..", "a/.b");
    check("..a/../b.", "b.");
}

static void test_base(void **state)
{
    (void)state;
    assert_string_equal(path_base("/usr/bin/xz"), "xz");
    assert_string_equal(path_base("xz"), "xz");
    assert_string_equal(path_base("bin/"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalize),
        cmocka_unit_test(test_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
