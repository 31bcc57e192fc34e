#include "tests/unit/cmocka_suite.h"

#include "lib/sanitized-text.h"
#include "lib/utf8.h"

TEST(every_code_point_round_trips)
{
    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        char bytes[5] = {0};
        size_t length = utf8_encode(code, bytes);
        size_t expected = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        assert_int_equal(length, expected);
        uint32_t back;
        assert_int_equal(utf8_decode(bytes, &back), length);
        assert_int_equal(back, code);
    }
}

TEST(known_encodings)
{
    uint32_t code;
    assert_int_equal(utf8_decode("\xe2\x82\xac!", &code), 3);
    assert_int_equal(code, 0x20ac);
    assert_int_equal(utf8_decode("\xf0\x9f\x98\x80", &code), 4);
    assert_int_equal(code, 0x1f600);
    assert_int_equal(utf8_decode("a", &code), 1);
    assert_int_equal(code, 'a');
}

TEST(what_is_no_utf8_is_one_invalid_byte)
{
    const char *const invalid[] = {"\x80",
                                   "\xbf",
                                   "\xc0\x80",
                                   "\xc1\xbf",
                                   "\xc3",
                                   "\xc3(",
                                   "\xe2\x82",
                                   "\xe0\x9f\xbf",
                                   "\xed\xa0\x80",
                                   "\xed\xbf\xbf",
                                   "\xf0\x80\x80\x80",
                                   "\xf0\x9f\x98",
                                   "\xf4\x90\x80\x80",
                                   "\xf5\x80\x80\x80",
                                   "\xff",
                                   "\xfe"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        uint32_t code;
        assert_int_equal(utf8_decode(invalid[i], &code), 1);
        assert_true(code == UTF8_INVALID);
    }
}

TEST(what_is_invalid_is_replaced)
{
    const char *const cases[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"h\xc3\xb6st", "h\xc3\xb6st"},
        {"h\xf6st", "h\xef\xbf\xbdst"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc3", "\xef\xbf\xbd"},
        {"\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80!"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *repaired = utf8_repaired(cases[i][0]);
        assert_string_equal(repaired, cases[i][1]);
        free(repaired);
    }
}
