#include "viewer-tui/terminal/keys.h"

#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>

#define CONTROL(letter) ((letter)&0x1f)
#define SPECIAL(key)    ((key) + KEY_OFFSET)
#define MOST_KEYS       5

struct binding {
    enum command command;
    int keys[MOST_KEYS]; /* 0 ends them */
    struct key_help help;
};

static const struct binding bindings[] = {
    {COMMAND_NONE, {0}, {NULL, "Moving"}},
    {COMMAND_UP, {SPECIAL(KEY_UP), 'k', CONTROL('p')}, {"Up, k", "one row up"}},
    {COMMAND_DOWN, {SPECIAL(KEY_DOWN), 'j', CONTROL('n')}, {"Down, j", "one row down"}},
    {COMMAND_PAGE_UP, {SPECIAL(KEY_PPAGE), CONTROL('b')}, {"PgUp, ^B", "one page up"}},
    {COMMAND_PAGE_DOWN, {SPECIAL(KEY_NPAGE), CONTROL('f')}, {"PgDn, ^F", "one page down"}},
    {COMMAND_HALF_UP, {CONTROL('u')}, {"^U", "half a page up"}},
    {COMMAND_HALF_DOWN, {CONTROL('d')}, {"^D", "half a page down"}},
    {COMMAND_FIRST, {SPECIAL(KEY_HOME), 'g'}, {"Home, g", "to the first row"}},
    {COMMAND_LAST, {SPECIAL(KEY_END), 'G'}, {"End, G", "to the last row"}},
    {COMMAND_RIGHT,
     {SPECIAL(KEY_RIGHT), 'l'},
     {"Right, l", "open the row; then to its first child"}},
    {COMMAND_LEFT,
     {SPECIAL(KEY_LEFT), 'h'},
     {"Left, h", "close the row; then to the one above it"}},
    {COMMAND_PARENT, {'u'}, {"u", "to the row above in the tree"}},
    {COMMAND_NONE, {0}, {NULL, "Opening and closing"}},
    {COMMAND_TOGGLE,
     {'\r', '\n', ' ', SPECIAL(KEY_ENTER)},
     {"Enter, Space", "open or close the row"}},
    {COMMAND_EXPAND, {'+', '='}, {"+", "open the row"}},
    {COMMAND_COLLAPSE, {'-'}, {"-", "close the row"}},
    {COMMAND_EXPAND_ALL, {'*'}, {"*", "open the row and everything below it"}},
    {COMMAND_COLLAPSE_ALL, {'_'}, {"_", "close the row and everything below it"}},
    {COMMAND_HOT_PATH,
     {'H'},
     {"H", "follow the hot path: the child with at least half of the cost (see T)"}},
    {COMMAND_HOT_SHARE, {'T'}, {"T", "how much of the cost makes a path hot, in percent"}},
    {COMMAND_ZOOM_IN, {'z'}, {"z", "zoom in: only the row and what is below it"}},
    {COMMAND_ZOOM_OUT,
     {'Z', SPECIAL(KEY_BACKSPACE), 0x7f, '\b'},
     {"Z, Backspace", "zoom out again"}},
    {COMMAND_FLATTEN, {'f'}, {"f", "flatten: rows of the first level give place to theirs"}},
    {COMMAND_UNFLATTEN, {'F'}, {"F", "unflatten"}},
    {COMMAND_NONE, {0}, {NULL, "Places"}},
    {COMMAND_BACK, {'['}, {"[", "back to where you were before finding, zooming, ..."}},
    {COMMAND_FORWARD, {']'}, {"]", "forward again"}},
    {COMMAND_MARK, {'m'}, {"m, letter", "mark the row with a letter"}},
    {COMMAND_GO_TO_MARK, {'\''}, {"', letter", "go to that row"}},
    {COMMAND_LIST_MARKS, {'M'}, {"M", "list of marks"}},
    {COMMAND_SAME_SCOPE, {'.'}, {".", "the same scope in another view; where it is called"}},
    {COMMAND_NONE, {0}, {NULL, "Filters"}},
    {COMMAND_ONLY,
     {'&', SPECIAL(KEY_F(4))},
     {"&, F4", "only rows that match, and those above; &!: all but these"}},
    {COMMAND_HIDE, {'x'}, {"x", "hide the scope wherever it occurs"}},
    {COMMAND_FOLD, {'X'}, {"X", "show nothing inside the scope, wherever it occurs"}},
    {COMMAND_SHARE, {'%'}, {"%", "only rows with at least so many percent"}},
    {COMMAND_LIST_FILTERS, {'\\'}, {"\\", "list of filters, to take them away"}},
    {COMMAND_UNDO, {'U'}, {"U", "undo the last change of filters"}},
    {COMMAND_REDO, {CONTROL('r')}, {"^R", "redo it"}},
    {COMMAND_NONE, {0}, {NULL, "Views"}},
    {COMMAND_TOP_DOWN, {'1'}, {"1", "top-down: calling contexts"}},
    {COMMAND_BOTTOM_UP, {'2'}, {"2", "bottom-up: procedures and their callers"}},
    {COMMAND_FLAT, {'3'}, {"3", "flat: modules, files, procedures, loops, statements"}},
    {COMMAND_THREADS,
     {'4'},
     {"4", "threads: what the row cost in each of them; bars, histogram, table"}},
    {COMMAND_SUMMARY, {'5'}, {"5", "summary: processes, what became of samples, advice, problems"}},
    {COMMAND_NEXT_VIEW, {'\t'}, {"Tab", "next view"}},
    {COMMAND_PREVIOUS_VIEW, {SPECIAL(KEY_BTAB)}, {"Shift-Tab", "previous view"}},
    {COMMAND_PROJECTION,
     {'p'},
     {"p", "calls as they are written (logical), or as the machine made them (physical)"}},
    {COMMAND_RESTRICT,
     {'|'},
     {"|", "only threads that a regular expression matches; empty: all of them"}},
    {COMMAND_PROGRAM, {'P'}, {"P", "only one program, of several (make, cc1, ...); or all again"}},
    {COMMAND_FOLD_INLINED,
     {'I'},
     {"I", "fold inlined code into the procedures that contain it, or not (S in C keeps it)"}},
    {COMMAND_NONE, {0}, {NULL, "Sorting"}},
    {COMMAND_SORT_RIGHT, {'s', '>'}, {"s, >", "by the next column; the last one is the name"}},
    {COMMAND_SORT_LEFT, {'S', '<'}, {"S, <", "by the column before"}},
    {COMMAND_REVERSE, {'r'}, {"r", "in reverse"}},
    {COMMAND_NONE, {0}, {NULL, "Metrics"}},
    {COMMAND_KINDS, {'o'}, {"o", "overhead by kind (spawn, sync, ...), or the usual metrics"}},
    {COMMAND_DEFINE, {'d'}, {"d", "define a metric by a formula: waste = $idleness + $overhead"}},
    {COMMAND_INSPECT, {'i'}, {"i", "inspect the row: all its values with all digits, its place"}},
    {COMMAND_COLUMNS,
     {'C', SPECIAL(KEY_F(6))},
     {"C, F6", "columns: hide, move, widen, sort by, delete, keep (S)"}},
    {COMMAND_COLUMNS_RIGHT, {'}'}, {"}", "scroll the columns to those on the right"}},
    {COMMAND_COLUMNS_LEFT, {'{'}, {"{", "back to those on the left"}},
    {COMMAND_UNITS, {'t'}, {"t", "numbers with all digits, scientific, percentages only, ..."}},
    {COMMAND_BARS, {'b'}, {"b", "bars in place of percentages, or not"}},
    {COMMAND_NONE, {0}, {NULL, "Finding"}},
    {COMMAND_FIND,
     {'/', SPECIAL(KEY_F(3))},
     {"/, F3", "find a name or a place, also in rows that are closed"}},
    {COMMAND_FIND_NEXT, {'n'}, {"n", "the next one"}},
    {COMMAND_FIND_PREVIOUS, {'N'}, {"N", "the one before"}},
    {COMMAND_END_FINDING, {KEY_ESCAPE}, {"Esc", "no longer show what matches"}},
    {COMMAND_NONE, {0}, {NULL, "Source"}},
    {COMMAND_SOURCE, {'v'}, {"v", "show the source of the row, or not"}},
    {COMMAND_CALL_SITE, {'c'}, {"c", "the call, or what is called"}},
    {COMMAND_OWN_CALL,
     {'w'},
     {"w", "where code has no source: to the nearest line of yours that leads to it"}},
    {COMMAND_SOURCE_UP, {'K'}, {"K", "scroll the source up"}},
    {COMMAND_SOURCE_DOWN, {'J'}, {"J", "scroll the source down"}},
    {COMMAND_SOURCE_RIGHT,
     {')', SPECIAL(KEY_SRIGHT)},
     {"), Shift-Right", "scroll the source to the right, where its lines are long"}},
    {COMMAND_SOURCE_LEFT,
     {'(', SPECIAL(KEY_SLEFT)},
     {"(, Shift-Left", "scroll the source back to the left"}},
    {COMMAND_DISASSEMBLE, {'D'}, {"D", "disassemble: the procedure's instructions, with their costs"}},
    {COMMAND_EDIT, {'e'}, {"e", "open it in $VISUAL, $EDITOR or vi, at the line"}},
    {COMMAND_NONE, {0}, {NULL, "Taking away"}},
    {COMMAND_WRITE, {'W'}, {"W", "write the view to a file, in the format of its name"}},
    {COMMAND_COPY_LINE, {'y'}, {"y", "copy name, place and costs to the terminal's clipboard"}},
    {COMMAND_COPY_PATH, {'Y'}, {"Y", "copy the path to the row"}},
    {COMMAND_NONE, {0}, {NULL, "Mouse (with Shift the terminal's own)"}},
    {COMMAND_CLICK,
     {SPECIAL(KEY_MOUSE)},
     {"click", "select; again, or at the marker: open or close; a head: sort; a view"}},
    {COMMAND_ROLL_UP,
     {SPECIAL(KEY_SR)},
     {"wheel up", "scroll up, over the source that (Shift-Up)"}},
    {COMMAND_ROLL_DOWN, {SPECIAL(KEY_SF)}, {"wheel down", "scroll down (Shift-Down)"}},
    {COMMAND_NONE, {0}, {NULL, "Others"}},
    {COMMAND_ADVICE,
     {'a'},
     {"a", "advice on the row: idleness, overhead; of two runs what changed"}},
    {COMMAND_REDRAW, {CONTROL('l')}, {"^L", "draw the screen anew"}},
    {COMMAND_HELP, {'?', SPECIAL(KEY_F(1))}, {"?, F1", "this help"}},
    {COMMAND_QUIT, {'q', 'Q', CONTROL('c'), SPECIAL(KEY_F(10))}, {"q, F10, ^C", "quit"}},
};

#define N_BINDINGS (sizeof bindings / sizeof *bindings)

enum command keys_command(int key)
{
    for (size_t i = 0; i < N_BINDINGS; i++)
        for (size_t k = 0; k < MOST_KEYS && bindings[i].keys[k]; k++)
            if (bindings[i].keys[k] == key)
                return bindings[i].command;
    return COMMAND_NONE;
}

bool command_opens_page(enum command command)
{
    switch (command) {
    case COMMAND_TOP_DOWN:
    case COMMAND_BOTTOM_UP:
    case COMMAND_FLAT:
    case COMMAND_THREADS:
    case COMMAND_SUMMARY:
    case COMMAND_INSPECT:
    case COMMAND_DISASSEMBLE:
    case COMMAND_ADVICE:
    case COMMAND_HELP: return true;
    default: return false;
    }
}

const struct key_help *keys_help(size_t *n)
{
    static struct key_help lines[N_BINDINGS];
    for (size_t i = 0; i < N_BINDINGS; i++)
        lines[i] = bindings[i].help;
    *n = N_BINDINGS;
    return lines;
}
