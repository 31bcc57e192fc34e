#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/terminal/screens/commands.h"

#include <ncurses.h>

TEST(what_hands_expect)
{
    const struct {
        int key;
        const char *help; /* how it begins; NULL: the key does nothing */
    } expected[] = {{'j', "go one row down"},
                    {'k', "go one row up"},
                    {'h', "close the row"},
                    {'l', "open the row"},
                    {KEY_UP + KEY_OFFSET, "go one row up"},
                    {16, "go one row up"}, /* ^P */
                    {KEY_NPAGE + KEY_OFFSET, "one page down"},
                    {KEY_HOME + KEY_OFFSET, "go to the first row"},
                    {'g', "go to the first row"},
                    {'G', "go to the last row"},
                    {'\r', "open or close"},
                    {' ', "open or close"},
                    {'/', "find a name"},
                    {KEY_F(3) + KEY_OFFSET, "find a name"},
                    {'n', "find the next"},
                    {'^', NULL},
                    {',', NULL},
                    {'?', "this help"},
                    {'q', "quit"},
                    {3, "quit"},   /* ^C */
                    {'\b', "zoom out"},
                    {0x7f, "zoom out"},
                    {KEY_MOUSE + KEY_OFFSET, "select a row"},
                    {KEY_RESIZE + KEY_OFFSET, NULL},
                    {KEY_NOTHING, NULL},
                    {KEY_GONE, NULL},
                    {0, NULL}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct command *command = command_of_key(expected[i].key);
        assert_int_equal(command != NULL, expected[i].help != NULL);
        if (command)
            assert_int_equal(strncmp(command->help, expected[i].help, strlen(expected[i].help)), 0);
    }
}

/* Keys of a page mean something else elsewhere. */
static const struct command *command_of(const struct family *family, int key)
{
    return family_is_of_page(family) ? command_in_family(family, key) : command_of_key(key);
}

TEST(keys_of_a_page_are_its_own)
{
    assert_null(command_of_key('0'));
    assert_non_null(command_in_family(&time_family, '0'));
    assert_ptr_not_equal(command_of_key('r'), command_in_family(&time_family, 'r'));
    assert_ptr_not_equal(command_of_key('T'), command_in_family(&thread_family, 'T'));
}

/* Each name of a key is known, and none is bound twice: then another command than the first has no key. */
TEST(every_command_has_its_keys)
{
    for (const struct family *const *family = command_families; *family; family++) {
        assert_true(strlen((*family)->heading) > 3);
        for (const struct command *command = (*family)->commands; command->keys; command++) {
            size_t n_names = 1, n_keys = 0;
            for (const char *at = command->keys; *at; at++)
                n_names += *at == ',';
            for (int key = 1; key < KEY_MAX; key++)
                n_keys += (command_of(*family, key) == command) + (command_of(*family, key + KEY_OFFSET) == command);
            assert_true(n_keys >= n_names);
            assert_true(strlen(command->help) > 3);
            assert_non_null(command->obey);
        }
    }
}
