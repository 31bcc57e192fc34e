#include "tests/unit/cmocka_suite.h"

#include "lib/printable.h"
#include "lib/sanitized-text.h"
#include "lib/utf8.h"

static void assert_form(const char *text, const char *expected)
{
    char *form = printable_text(text);
    assert_string_equal(form, expected);
    free(form);
}

TEST(names_as_most_are_stay)
{
    const char *const names[] = {"",
                                 "main",
                                 "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                 "std::vector<int, std::allocator<int> >::operator[]",
                                 "with space ~!@#$%^&*()'\"`;|<>?",
                                 "M\xc3\xbcller",
                                 "\xe5\x90\x8d\xe5\x89\x8d",
                                 "\xf0\x9f\x98\x80",
                                 "a\xc2\xa0z", /* U+00A0, the first behind the C1 controls */
                                 "C:\\name\\"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_form(names[i], names[i]);
}

TEST(each_kind_has_its_escape)
{
    assert_form("a\x1b[2Jz", "a\\x1b[2Jz");
    assert_form("one\ntwo\r\tthree\x01\x7f", "one\\x0atwo\\x0d\\x09three\\x01\\x7f");
    assert_form("\xc2\x9b"
                "31m\xc2\x80\xc2\x9f",
                "\\u009b31m\\u0080\\u009f");
    assert_form("\x9b\xff\xc3", "\\x9b\\xff\\xc3");
    assert_form("\xe2\x80\xae\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c",
                "\\u202e\\u202a\\u2066\\u2069\\u200e\\u200f\\u061c");
    assert_form("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xe2\x80\x8b", "\\u2028\\u2029\\ufeff\\u200b");
    assert_form("\xf3\xa0\x81\x81", "\\U000e0041");
    assert_form("\xed\xa0\x80\xc0\x80", "\\xed\\xa0\\x80\\xc0\\x80"); /* a surrogate; overlong */
    assert_form("\xe2\x80", "\\xe2\\x80");                            /* cut off */
}

TEST(no_name_looks_like_another)
{
    assert_form("\x1b", "\\x1b");
    assert_form("\\x1b", "\\\\x1b");
    assert_form("\\\\x1b", "\\\\\\\\x1b");
    assert_form("\\u202e", "\\\\u202e");
    assert_form("\\\x1b", "\\\\\\x1b"); /* a backslash and ESC */
    assert_form("\\n", "\\n");
}

/* Decodes a form to the name that it stands for, by the grammar in lib/printable.h. */
static void read_back(const char *form, char *name)
{
    while (*form) {
        unsigned value;
        int length = 0;
        if (form[0] != '\\') {
            *name++ = *form++;
        } else if (form[1] == '\\') {
            *name++ = '\\';
            form += 2;
        } else if (sscanf(form, "\\x%2x%n", &value, &length) == 1 && length == 4) {
            *name++ = (char)value;
            form += 4;
        } else if (sscanf(form, "\\u%4x%n", &value, &length) == 1 && length == 6) {
            name += utf8_encode(value, name);
            form += 6;
        } else if (sscanf(form, "\\U%8x%n", &value, &length) == 1 && length == 10) {
            name += utf8_encode(value, name);
            form += 10;
        } else {
            *name++ = *form++;
        }
    }
    *name = '\0';
}

TEST(every_name_can_be_read_back)
{
    static const char *const pieces[] = {
        "\\", "x", "u", "1b", "\x1b", "a", "\xff", "\xc2\x9b", "\xe2\x80\xae", "\xf3\xa0\x81\x81"};
    enum { PIECES = sizeof pieces / sizeof *pieces, LENGTH = 5 };
    unsigned total = 1;
    for (unsigned i = 0; i < LENGTH; i++)
        total *= PIECES;
    for (unsigned number = 0; number < total; number++) {
        char name[64] = "", back[64];
        for (unsigned i = 0, rest = number; i < LENGTH; i++, rest /= PIECES)
            strcat(name, pieces[rest % PIECES]);
        char *form = printable_text(name);
        for (const char *at = form; *at; at++)
            assert_in_range(*at, 0x20, 0x7e);
        read_back(form, back);
        assert_string_equal(back, name);
        free(form);
    }
}

TEST(what_does_not_fit_is_cut_between_forms)
{
    char out[8];
    assert_int_equal(printable_copy(out, sizeof out, "abc\x1bz"), 7);
    assert_string_equal(out, "abc\\x1b");
    assert_int_equal(printable_copy(out, 7, "abc\x1bz"), 3);
    assert_string_equal(out, "abc");
    assert_int_equal(printable_copy(out, 1, "abc"), 0);
    assert_string_equal(out, "");
}

TEST(code_keeps_its_backslashes)
{
    const char *code = "\\x1b\x1b", *at = code;
    char out[32] = "";
    while (*at) {
        char form[PRINTABLE_BYTES];
        size_t length = printable_next_of_code(&at, form);
        strncat(out, form, length);
    }
    assert_string_equal(out, "\\x1b\\x1b");
}
