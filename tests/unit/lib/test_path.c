#include "tests/unit/cmocka_suite.h"

#include "lib/path.h"

static void check(const char *path, const char *expected)
{
    char *normal = path_normalize(path);
    assert_string_equal(normal, expected);
    free(normal);
}

TEST(test_normalize)
{
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

TEST(test_base)
{
    assert_string_equal(path_base("/usr/bin/xz"), "xz");
    assert_string_equal(path_base("xz"), "xz");
    assert_string_equal(path_base("bin/"), "");
}
