#include "viewer-tui/terminal/keys.h"

#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>

#define CONTROL(letter) ((letter)&0x1f)
#define SPECIAL(key)    ((key) + KEY_OFFSET)
#define MOST_KEYS       5

struct binding {
    enum command command;
    int keys[MOST_KEYS]; /* ends with 0 if there are fewer */
    struct key_help help;
};

static const struct binding bindings[] = {
    {COMMAND_NONE, {0}, {NULL, "Moving"}},
    {COMMAND_UP, {SPECIAL(KEY_UP), 'k', CONTROL('p')}, {"Up, k", "go one row up"}},
    {COMMAND_DOWN, {SPECIAL(KEY_DOWN), 'j', CONTROL('n')}, {"Down, j", "go one row down"}},
    {COMMAND_PAGE_UP, {SPECIAL(KEY_PPAGE), CONTROL('b')}, {"PgUp, ^B", "one page up"}},
    {COMMAND_PAGE_DOWN, {SPECIAL(KEY_NPAGE), CONTROL('f')}, {"PgDn, ^F", "one page down"}},
    {COMMAND_HALF_UP, {CONTROL('u')}, {"^U", "half a page up"}},
    {COMMAND_HALF_DOWN, {CONTROL('d')}, {"^D", "half a page down"}},
    {COMMAND_FIRST, {SPECIAL(KEY_HOME), 'g'}, {"Home, g", "go to the first row"}},
    {COMMAND_LAST, {SPECIAL(KEY_END), 'G'}, {"End, G", "go to the last row"}},
    {COMMAND_RIGHT,
     {SPECIAL(KEY_RIGHT), 'l'},
     {"Right, l", "open the row; if open, go to its first child"}},
    {COMMAND_LEFT,
     {SPECIAL(KEY_LEFT), 'h'},
     {"Left, h", "close the row; if closed, go to the row above in the tree"}},
    {COMMAND_PARENT, {'u'}, {"u", "go to the row above in the tree"}},
    {COMMAND_NONE, {0}, {NULL, "Opening and closing"}},
    {COMMAND_TOGGLE,
     {'\r', '\n', ' ', SPECIAL(KEY_ENTER)},
     {"Enter, Space", "open or close the row; main thread > ... > main: show the rows between"}},
    {COMMAND_EXPAND, {'+', '='}, {"+", "open the row"}},
    {COMMAND_COLLAPSE, {'-'}, {"-", "close the row"}},
    {COMMAND_EXPAND_ALL, {'*'}, {"*", "open the row and everything below it"}},
    {COMMAND_COLLAPSE_ALL, {'_'}, {"_", "close the row and everything below it"}},
    {COMMAND_HOT_PATH,
     {'H'},
     {"H", "follow the hot path: children with at least half of the cost (see T)"}},
    {COMMAND_HOT_SHARE, {'T'}, {"T", "set the smallest share of a hot child, in percent"}},
    {COMMAND_ZOOM_IN, {'z'}, {"z", "zoom in: show only the row and the rows below it"}},
    {COMMAND_ZOOM_OUT, {'Z', SPECIAL(KEY_BACKSPACE), 0x7f, '\b'}, {"Z, Backspace", "zoom out"}},
    {COMMAND_FLATTEN,
     {'f'},
     {"f", "flatten: replace the rows of the first level by their children"}},
    {COMMAND_UNFLATTEN, {'F'}, {"F", "undo one flattening"}},
    {COMMAND_NONE, {0}, {NULL, "Places"}},
    {COMMAND_BACK, {'['}, {"[", "go back to the row before the last search, zoom, ..."}},
    {COMMAND_FORWARD, {']'}, {"]", "go forward again"}},
    {COMMAND_SAME_SCOPE, {'.'}, {".", "go to the same scope in another view, or to its call"}},
    {COMMAND_NONE, {0}, {NULL, "Filters"}},
    {COMMAND_ONLY,
     {'&', SPECIAL(KEY_F(4))},
     {"&, F4", "show only rows that match, and those above them; &!: hide them"}},
    {COMMAND_HIDE, {'x'}, {"x", "hide the scope wherever it occurs"}},
    {COMMAND_FOLD, {'X'}, {"X", "hide the rows below the scope, wherever it occurs"}},
    {COMMAND_SHARE, {'%'}, {"%", "show only rows with at least a given percentage"}},
    {COMMAND_LIST_FILTERS, {'\\'}, {"\\", "list the filters, to delete them"}},
    {COMMAND_UNDO, {'U'}, {"U", "undo the last change of filters"}},
    {COMMAND_REDO, {CONTROL('r')}, {"^R", "redo the change"}},
    {COMMAND_NONE, {0}, {NULL, "Views"}},
    {COMMAND_TOP_DOWN, {'1'}, {"1", "top-down: calling contexts"}},
    {COMMAND_BOTTOM_UP, {'2'}, {"2", "bottom-up: procedures and their callers"}},
    {COMMAND_FLAT, {'3'}, {"3", "flat: modules, files, procedures, loops, statements"}},
    {COMMAND_THREADS, {'4'}, {"4", "threads: cost of the row in each; bars, histogram, table"}},
    {COMMAND_SUMMARY, {'5'}, {"5", "summary: processes, samples, advice, problems"}},
    {COMMAND_NEXT_VIEW, {'\t'}, {"Tab", "next view"}},
    {COMMAND_PREVIOUS_VIEW, {SPECIAL(KEY_BTAB)}, {"Shift-Tab", "previous view"}},
    {COMMAND_PROJECTION,
     {'p'},
     {"p", "switch between calls as written (logical) and as executed (physical)"}},
    {COMMAND_RESTRICT,
     {'|'},
     {"|", "show only threads that match a regular expression; empty: all"}},
    {COMMAND_PROGRAM, {'P'}, {"P", "show only one of several programs (make, cc1, ...), or all"}},
    {COMMAND_FOLD_INLINED,
     {'I'},
     {"I",
      "fold inlined code into the procedures that contain it, or show it (S in C saves that)"}},
    {COMMAND_FOLD_RECURSION,
     {'R'},
     {"R", "collapse recursion: a recursive call counts in the outermost call of the procedure"}},
    {COMMAND_NONE, {0}, {NULL, "Sorting"}},
    {COMMAND_SORT_RIGHT, {'s', '>'}, {"s, >", "sort by the next column; the last one is the name"}},
    {COMMAND_SORT_LEFT, {'S', '<'}, {"S, <", "sort by the previous column"}},
    {COMMAND_REVERSE, {'r'}, {"r", "reverse the order"}},
    {COMMAND_NONE, {0}, {NULL, "Metrics"}},
    {COMMAND_KINDS, {'o'}, {"o", "show overhead by kind (spawn, sync, ...), or the usual metrics"}},
    {COMMAND_DEFINE, {'d'}, {"d", "define a metric by a formula: waste = $idleness + $overhead"}},
    {COMMAND_INSPECT,
     {'i'},
     {"i", "inspect the row: all values with all digits, file, line, module"}},
    {COMMAND_COLUMNS,
     {'C', SPECIAL(KEY_F(6))},
     {"C, F6", "choose columns: hide, move, sort by, delete, save (S)"}},
    {COMMAND_COLUMNS_RIGHT, {'}'}, {"}", "scroll the columns to the right"}},
    {COMMAND_COLUMNS_LEFT, {'{'}, {"{", "scroll the columns to the left"}},
    {COMMAND_BARS, {'b'}, {"b", "show bars in place of percentages, or percentages"}},
    {COMMAND_NONE, {0}, {NULL, "Finding"}},
    {COMMAND_FIND,
     {'/', SPECIAL(KEY_F(3))},
     {"/, F3", "find a name or a place, also in closed rows"}},
    {COMMAND_FIND_NEXT, {'n'}, {"n", "find the next match"}},
    {COMMAND_FIND_PREVIOUS, {'N'}, {"N", "find the previous match"}},
    {COMMAND_END_FINDING, {KEY_ESCAPE}, {"Esc", "stop highlighting matches"}},
    {COMMAND_NONE, {0}, {NULL, "Source"}},
    {COMMAND_SOURCE, {'v'}, {"v", "show or hide the source of the row"}},
    {COMMAND_CALL_SITE, {'c'}, {"c", "switch between the call of the row and its declaration"}},
    {COMMAND_OWN_CALL,
     {'w'},
     {"w", "code without source: go to the nearest line of yours that leads to it"}},
    {COMMAND_SOURCE_UP, {'K'}, {"K", "scroll the source up"}},
    {COMMAND_SOURCE_DOWN, {'J'}, {"J", "scroll the source down"}},
    {COMMAND_SOURCE_RIGHT,
     {')', SPECIAL(KEY_SRIGHT)},
     {"), Shift-Right", "scroll long source lines to the right"}},
    {COMMAND_SOURCE_LEFT,
     {'(', SPECIAL(KEY_SLEFT)},
     {"(, Shift-Left", "scroll the source to the left"}},
    {COMMAND_DISASSEMBLE,
     {'D'},
     {"D", "disassemble: the procedure's instructions, with their costs"}},
    {COMMAND_EDIT, {'e'}, {"e", "open the source in $VISUAL, $EDITOR or vi, at the line"}},
    {COMMAND_NONE, {0}, {NULL, "Export"}},
    {COMMAND_WRITE, {'W'}, {"W", "write the view to a file; its name tells the format"}},
    {COMMAND_COPY_LINE,
     {'y'},
     {"y", "copy name, place and costs of the row to the terminal's clipboard"}},
    {COMMAND_COPY_PATH, {'Y'}, {"Y", "copy the path to the row"}},
    {COMMAND_NONE, {0}, {NULL, "Mouse (hold Shift for the terminal's own)"}},
    {COMMAND_CLICK,
     {SPECIAL(KEY_MOUSE)},
     {"click", "select a row; again, or its marker: open or close; head: sort; view: show"}},
    {COMMAND_ROLL_UP,
     {SPECIAL(KEY_SR)},
     {"wheel up", "scroll up the tree, or the source under the mouse (Shift-Up)"}},
    {COMMAND_ROLL_DOWN, {SPECIAL(KEY_SF)}, {"wheel down", "scroll down (Shift-Down)"}},
    {COMMAND_NONE, {0}, {NULL, "Others"}},
    {COMMAND_ADVICE,
     {'a'},
     {"a", "advice on the row: idleness, overhead; comparing: what changed"}},
    {COMMAND_REDRAW, {CONTROL('l')}, {"^L", "redraw the screen"}},
    {COMMAND_HELP,
     {'?', SPECIAL(KEY_F(1))},
     {"?, F1", "this help; like 1 to 5 it works on every page"}},
    {COMMAND_QUIT,
     {'q', 'Q', CONTROL('c'), SPECIAL(KEY_F(10))},
     {"q, F10, ^C", "quit; close a page"}},
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

long command_rows(enum command command, long page, long n)
{
    switch (command) {
    case COMMAND_UP:
    case COMMAND_ROLL_UP: return -1;
    case COMMAND_DOWN:
    case COMMAND_ROLL_DOWN: return 1;
    case COMMAND_PAGE_UP: return -page;
    case COMMAND_PAGE_DOWN: return page;
    case COMMAND_HALF_UP: return -(page + 1) / 2;
    case COMMAND_HALF_DOWN: return (page + 1) / 2;
    case COMMAND_FIRST: return -n;
    case COMMAND_LAST: return n;
    default: return 0;
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
