#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/db/syntax.h"

/* Checks the lines of a file; `expected` has a letter for each of their bytes:
 * . code, c comment, s string, n number, k keyword, d directive. */
static void assert_kinds(const char *path, const char *const lines[], const char *const expected[])
{
    static const char letters[] = ".csnkd";
    const struct syntax *syntax = syntax_of(path);
    assert_non_null(syntax);
    uint8_t state = 0;
    for (size_t i = 0; lines[i]; i++) {
        uint8_t kinds[100] = {0};
        char shown[101] = "";
        uint8_t without = syntax_line(syntax, state, lines[i], NULL);
        state = syntax_line(syntax, state, lines[i], kinds);
        assert_int_equal(state, without);
        for (size_t k = 0; k < strlen(lines[i]); k++)
            shown[k] = letters[kinds[k]];
        assert_string_equal(shown, expected[i]);
    }
}

TEST(c_and_cpp)
{
    assert_kinds("/a/b.c",
                 (const char *const[]){"#include \"a.h\" // b", "int i1 = 0x1f + 1'000; /* if",
                                       "if \" */ \"if\\\"\" 'x' '\\'' ;", "iffy do_if 1.5e3f", "",
                                       NULL},
                 (const char *const[]){"dddddddd.sssss.cccc", "kkk......nnnn...nnnnn..ccccc",
                                       "ccccccc.ssssss.sss.ssss..", "...........nnnnnn", "", NULL});
}

TEST(python)
{
    assert_kinds(
        "x.py",
        (const char *const[]){"def f(): # 'c", "\"\"\" doc \" ' #", "end\"\"\" + 'a\\'b'", NULL},
        (const char *const[]){"kkk......cccc", "sssssssssssss", "ssssss...ssssss", NULL});
}

TEST(fortran)
{
    assert_kinds("x.F90", (const char *const[]){"End Do ! it's", "s = 'a!b'", NULL},
                 (const char *const[]){"kkk.kk.cccccc", "....sssss", NULL});
}

TEST(rust_and_go)
{
    assert_kinds("x.rs", (const char *const[]){"fn f<'a>(c: &'a u8) { 'x'; '\\n' }", NULL},
                 (const char *const[]){"kk....................sss..ssss..", NULL});
    assert_kinds("x.go", (const char *const[]){"var s = `a", "\\` + 1", NULL},
                 (const char *const[]){"kkk.....ss", "ss...n", NULL});
}

TEST(unfinished_things)
{
    assert_kinds("x.h", (const char *const[]){"'it is", "int \"a\\", "int", "/*", "", "int", NULL},
                 (const char *const[]){"ssssss", "kkk.sss", "kkk", "cc", "", "ccc", NULL});
}

TEST(unknown_files)
{
    assert_null(syntax_of("/a.c/Makefile"));
    assert_null(syntax_of("x."));
    assert_null(syntax_of("x.txt"));
    assert_null(syntax_of(""));
}
