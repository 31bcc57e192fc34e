#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>
#include <stdbool.h>
#include <string.h>

static void what_hands_expect(void **state)
{
    (void)state;
    const struct {
        int key;
        enum command command;
    } expected[] = {{'j', COMMAND_DOWN},
                    {'k', COMMAND_UP},
                    {'h', COMMAND_LEFT},
                    {'l', COMMAND_RIGHT},
                    {KEY_UP + KEY_OFFSET, COMMAND_UP},
                    {KEY_NPAGE + KEY_OFFSET, COMMAND_PAGE_DOWN},
                    {KEY_HOME + KEY_OFFSET, COMMAND_FIRST},
                    {'g', COMMAND_FIRST},
                    {'G', COMMAND_LAST},
                    {'\r', COMMAND_TOGGLE},
                    {' ', COMMAND_TOGGLE},
                    {'/', COMMAND_FIND},
                    {'n', COMMAND_FIND_NEXT},
                    {'?', COMMAND_HELP},
                    {'q', COMMAND_QUIT},
                    {KEY_RESIZE + KEY_OFFSET, COMMAND_NONE},
                    {KEY_NOTHING, COMMAND_NONE},
                    {KEY_GONE, COMMAND_NONE},
                    {0, COMMAND_NONE}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(keys_command(expected[i].key), expected[i].command);
}

static void every_command_has_a_key(void **state)
{
    (void)state;
    bool has_key[COMMAND_QUIT + 1] = {false};
    for (int key = 1; key < KEY_MAX; key++) {
        has_key[keys_command(key)] = true;
        has_key[keys_command(key + KEY_OFFSET)] = true;
    }
    for (int command = 0; command <= COMMAND_QUIT; command++)
        assert_true(has_key[command]);
}

static void every_line_of_help_says_something(void **state)
{
    (void)state;
    size_t n;
    const struct key_help *help = keys_help(&n);
    assert_true(n > COMMAND_QUIT);
    for (size_t i = 0; i < n; i++) {
        assert_true(strlen(help[i].what) > 3);
        assert_true(!help[i].keys || *help[i].keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hands_expect),
        cmocka_unit_test(every_command_has_a_key),
        cmocka_unit_test(every_line_of_help_says_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
