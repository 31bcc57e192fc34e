#include "viewer-tui/terminal/screens/commands.h"

#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>
#include <string.h>

const struct family *const command_families[] = {
    &moving_family, &opening_family, &place_family,   &filter_family, &view_family,  &sorting_family, &metric_family,
    &finding_family, &source_family, &export_family, &mouse_family,  &other_family,  &thread_family,  &time_family,
    NULL};

/* The keys that have a name. */
static const struct {
    const char *name;
    int keys[3]; /* ends with 0 if there are fewer */
} named_keys[] = {
    {"Up", {SPECIAL(KEY_UP)}},
    {"Down", {SPECIAL(KEY_DOWN)}},
    {"Left", {SPECIAL(KEY_LEFT)}},
    {"Right", {SPECIAL(KEY_RIGHT)}},
    {"PgUp", {SPECIAL(KEY_PPAGE)}},
    {"PgDn", {SPECIAL(KEY_NPAGE)}},
    {"Home", {SPECIAL(KEY_HOME)}},
    {"End", {SPECIAL(KEY_END)}},
    {"Shift-Left", {SPECIAL(KEY_SLEFT)}},
    {"Shift-Right", {SPECIAL(KEY_SRIGHT)}},
    {"Enter", {'\r', '\n', SPECIAL(KEY_ENTER)}},
    {"Space", {' '}},
    {"Backspace", {SPECIAL(KEY_BACKSPACE), KEY_RUBOUT, '\b'}},
    {"Tab", {'\t'}},
    {"Shift-Tab", {SPECIAL(KEY_BTAB)}},
    {"Esc", {KEY_ESCAPE}},
    {"F1", {SPECIAL(KEY_F(1))}},
    {"F3", {SPECIAL(KEY_F(3))}},
    {"F4", {SPECIAL(KEY_F(4))}},
    {"F6", {SPECIAL(KEY_F(6))}},
    {"F10", {SPECIAL(KEY_F(10))}},
    {"click", {SPECIAL(KEY_MOUSE)}},
    {"wheel up", {SPECIAL(KEY_SR)}},
    {"wheel down", {SPECIAL(KEY_SF)}},
};

/* Whether a name of `length` bytes is that of a key. */
static bool is_name_of(const char *name, size_t length, int key)
{
    if (length == 1 || (length == 2 && *name == '^'))
        return key == (length == 1 ? name[0] : CONTROL(name[1]));
    for (size_t i = 0; i < sizeof named_keys / sizeof *named_keys; i++)
        if (strlen(named_keys[i].name) == length && strncmp(named_keys[i].name, name, length) == 0)
            for (size_t k = 0; k < 3 && named_keys[i].keys[k]; k++)
                if (named_keys[i].keys[k] == key)
                    return true;
    return false;
}

const struct command *command_in_family(const struct family *family, int key)
{
    for (const struct command *command = family->commands; command->keys; command++)
        for (const char *name = command->keys; *name;) {
            size_t length = strcspn(name, ",");
            if (is_name_of(name, length, key))
                return command;
            name += length + strspn(name + length, ", ");
        }
    return NULL;
}

bool family_is_of_page(const struct family *family)
{
    return family == &thread_family || family == &time_family;
}

const struct command *command_of_key(int key)
{
    const struct command *command = NULL;
    for (const struct family *const *family = command_families; *family && !command; family++)
        if (!family_is_of_page(*family))
            command = command_in_family(*family, key);
    return command;
}

bool key_is_of(int key, void (*obey)(struct tui *tui))
{
    const struct command *command = command_of_key(key);
    return command && command->obey == obey;
}

long move_rows(enum move move, long page, long n)
{
    const long rows[] = {[ROW_UP] = -1,
                         [ROW_DOWN] = 1,
                         [PAGE_UP] = -page,
                         [PAGE_DOWN] = page,
                         [HALF_UP] = -(page + 1) / 2,
                         [HALF_DOWN] = (page + 1) / 2,
                         [FIRST_ROW] = -n,
                         [LAST_ROW] = n};
    return rows[move];
}

bool key_is_move(int key, long page, long n, long *rows)
{
    const struct command *command = command_of_key(key);
    if (command && command->obey == tui_move)
        *rows = move_rows((enum move)command->argument, page, n);
    else if (command && command->obey == tui_roll)
        *rows = command->argument < 0 ? -1 : 1;
    else
        return false;
    return true;
}
