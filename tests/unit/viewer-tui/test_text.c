#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/text.h"

#include <locale.h>

TEST(pieces_are_put_together)
{
    struct text text = {0};
    assert_string_equal(text_string(&text), "");
    text_add(&text, "a");
    text_printf(&text, "%d%s", 12, "b");
    text_pad(&text, '.', 3);
    text_add_bytes(&text, "xyz", 2);
    assert_string_equal(text_string(&text), "a12b...xy");
    assert_int_equal(text.n, 9);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    vec_free(&text);
}

static void check_clean(const char *raw, bool ascii, const char *clean)
{
    struct text text = {0};
    text_add_clean(&text, raw, ascii);
    assert_string_equal(text_string(&text), clean);
    vec_free(&text);
}

TEST(nothing_reaches_the_terminal_that_it_might_obey)
{
    check_clean("plain", false, "plain");
    check_clean("\x1b[2J\x7f\n", false, "\\x1b[2J\\x7f\\x0a");
    check_clean("\xc2\x9b"
                "1m",
                false, "\\u009b1m"); /* CSI as one character */
    check_clean("\xe2\x80\xae"
                "a", /* right to left */
                false, "\\u202ea");
    check_clean("\xff\xc3\xa9", false, "\\xff\xc3\xa9");
    check_clean("\xff\xc3\xa9\x01z", true, "\\xff?\\x01z");
    check_clean("\\x1b", false, "\\\\x1b");
    check_clean("", false, "");
}

TEST(source_code_keeps_its_backslashes)
{
    struct text text = {0};
    text_add_clean_code(&text, "puts(\"\\x1b[2J\x1b\xc3\xa9\");", true);
    assert_string_equal(text_string(&text), "puts(\"\\x1b[2J\\x1b?\");");
    vec_free(&text);
}

TEST(tabs_become_spaces)
{
    struct text text = {0};
    text_add_expanded(&text, "\tab\tc\t");
    assert_string_equal(text_string(&text), "        ab      c       ");
    vec_free(&text);
}

static void check_columns(const char *text, size_t columns)
{
    assert_int_equal(text_columns(text), columns);
}

TEST(columns_are_those_of_the_terminal)
{
    check_columns("", 0);
    check_columns("abc", 3);
    check_columns("\xc3\xa9", 1);                 /* e with acute */
    check_columns("e\xcc\x81", 1);                /* e and a combining acute */
    check_columns("\xe5\x90\x8d\xe5\x89\x8d", 4); /* two wide characters */
}

static void check_cut(const char *raw, size_t columns, const char *cut)
{
    struct text text = {0};
    text_add(&text, raw);
    text_cut(&text, columns);
    assert_string_equal(text_string(&text), cut);
    assert_int_equal(text.n, strlen(cut));
    vec_free(&text);
}

TEST(texts_are_cut_between_characters)
{
    check_cut("abc", 5, "abc");
    check_cut("abc", 3, "abc");
    check_cut("abc", 2, "ab");
    check_cut("abc", 0, "");
    check_cut("\xe5\x90\x8d\xe5\x89\x8d", 3, "\xe5\x90\x8d");
    check_cut("\xe5\x90\x8d", 1, "");
    assert_string_equal(text_skip("abc", 2), "c");
    assert_string_equal(text_skip("abc", 9), "");
    assert_string_equal(text_skip("\xe5\x90\x8dx", 1), "x");
}

static void check_lines(const char *raw, size_t columns, const char *joined)
{
    struct text line = {0}, all = {0};
    const char *rest = raw;
    while (text_take_line(&rest, columns, &line))
        text_printf(&all, "%s|", text_string(&line));
    assert_string_equal(text_string(&all), joined);
    assert_int_equal(*rest, 0);
    vec_free(&line);
    vec_free(&all);
}

TEST(texts_are_broken_into_lines)
{
    check_lines("", 5, "");
    check_lines("   ", 5, "");
    check_lines("ab cd ef", 8, "ab cd ef|");
    check_lines("ab cd ef", 7, "ab cd|ef|");
    check_lines("ab cd ef", 5, "ab cd|ef|");
    check_lines("ab cd ef", 4, "ab|cd|ef|");
    check_lines("  ab   cd ", 4, "ab|cd|");
    check_lines("ab   cd", 6, "ab|cd|"); /* spaces at a break are gone */
    check_lines("abcdef gh", 4, "abcd|ef|gh|");
    check_lines("a bcdefgh", 4, "a|bcde|fgh|");
    check_lines("abc", 0, "a|b|c|"); /* there is no end otherwise */
    check_lines("\xe5\x90\x8d\xe5\x89\x8d", 3, "\xe5\x90\x8d|\xe5\x89\x8d|");
}

TEST(bases_of_paths)
{
    assert_string_equal(path_name("/usr/bin/xz"), "xz");
    assert_string_equal(path_name("xz"), "xz");
    assert_string_equal(path_name("/usr/bin/"), "/usr/bin/");
    assert_string_equal(path_name(""), "");
}

TEST(formatted_texts_are_cleaned)
{
    struct text text = {0};
    text_say(&text, true, "%s: %5.1f%% of %zu, %u in %-4d|", "a\x1b\xc3\xa9", 12.25, (size_t)1 << 40, 7u, -3);
    assert_string_equal(text_string(&text), "a\\x1b?:  12.2% of 1099511627776, 7 in -3  |");
    text_clear(&text);
    text_say(&text, false, "%s%s", "", "");
    assert_string_equal(text_string(&text), "");
    vec_free(&text);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    return suite_run();
}

/* "~A ... ~B" would be struck through, and "$_0 ... $" a formula. */
TEST(markdown_takes_names_as_they_are)
{
    struct text text = {0};
    text_add_markdown(&text, "a|b<c>::~c[d]$_0*`\\&");
    assert_string_equal(text_string(&text), "a\\|b\\<c>::\\~c\\[d]\\$\\_0\\*\\`\\\\\\&");
    vec_free(&text);
}
