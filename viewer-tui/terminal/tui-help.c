/* The help screen. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"

/* A line, and how it reads in ASCII, if otherwise. */
static const struct explanation {
    const char *text, *in_ascii;
} explanation[] = {
    {"Costs", NULL},
    {"  inclusive: of the scope and everything below it; exclusive: its own. Recursion is", NULL},
    {"  counted once. The percentages are shares of the whole program. \"-\": not measured.", NULL},
    {"  Effort: work, overhead and idleness. Where it is shown their percentages are of the", NULL},
    {"  whole program's effort. Kinds of overhead are parts of it, as the runtime's tags say.",
     NULL},
    {"", NULL},
    {"Rows", NULL},
    {"  111 » f   f, called from line 111        111 » [I] f   f, inlined at line 111",
     "  111 -> f  f, called from line 111        111 -> [I] f  f, inlined at line 111"},
    {"  « f       called by f (bottom-up)        x.c:12        a statement with its own costs",
     "  <- f      called by f (bottom-up)        x.c:12        a statement with its own costs"},
    {"", NULL},
    {"Source", NULL},
    {"  Percentages are what lines cost in the row's procedure there (flat: everywhere), by what",
     NULL},
    {"  rows are sorted by; of callers the calls. ↻ a loop begins   » calls, or inlines",
     "  rows are sorted by; of callers the calls. @ a loop begins   * calls, or inlines"},
    {"", NULL},
    {"Finding", NULL},
    {"  What is looked for is a regular expression over what rows show, their names and places;",
     NULL},
    {"  after name:, file: or module: over the name or the whole path. Upper and lower case are",
     NULL},
    {"  the same unless it has upper case. Escape while typing goes back to where you were.", NULL},
    {"", NULL},
    {"Filters", NULL},
    {"  They hold in every view. The costs of rows stay what they are: of everything below,", NULL},
    {"  shown or not. Where a row is left out (&!, x s) what is below takes its place. In the",
     NULL},
    {"  bottom-up view & looks at procedures only, not at their callers.", NULL},
};

#define N_EXPLANATION ((int)(sizeof explanation / sizeof *explanation))
#define KEYS_WIDTH    16

/* Draws the lines from `first` on; the number of lines that there are. */
static int draw_help(const void *context, int first)
{
    const struct tui *tui = context;
    size_t n_keys;
    const struct key_help *keys = keys_help(&n_keys);
    int width = screen_width(), height = screen_height();
    int n = (int)n_keys + 1 + N_EXPLANATION;
    for (int line = 1; line < height - 1 && first + line - 1 < n; line++) {
        int index = first + line - 1;
        if (index < (int)n_keys) {
            const struct key_help *help = &keys[index];
            if (help->keys)
                screen_put(line, 2, KEYS_WIDTH, STYLE_PLAIN, help->keys);
            screen_put(line, help->keys ? 2 + KEYS_WIDTH : 0, width,
                       help->keys ? STYLE_PLAIN : STYLE_HEAD, help->what);
        } else if (index > (int)n_keys) {
            const struct explanation *at = &explanation[index - (int)n_keys - 1];
            const char *text = tui->ascii && at->in_ascii ? at->in_ascii : at->text;
            screen_put(line, 0, width, *text == ' ' ? STYLE_PLAIN : STYLE_HEAD, text);
        }
    }
    return n;
}

void tui_help(struct tui *tui)
{
    tui_page("help", draw_help, tui);
}
