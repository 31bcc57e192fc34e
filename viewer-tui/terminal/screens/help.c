/* The help screen. */
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/terminal/keys.h"

#include <stdlib.h>

/* A line, and how it reads in ASCII, if otherwise. */
static const struct explanation {
    const char *text, *in_ascii;
} explanation[] = {
    {"Costs", NULL},
    {"  inclusive: of the scope and everything below it; exclusive: its own. Recursion is counted "
     "once. The percentages are shares of the whole program. \"-\": not measured.",
     NULL},
    {"  Effort: work, overhead and idleness. Where it is shown their percentages are of the whole "
     "program's effort. Kinds of overhead are parts of it, as the runtime's tags say.",
     NULL},
    {"  Incomplete: the time in which not every worker had work; no number of workers makes the "
     "program faster. C lists it among the columns.",
     NULL},
    {"", NULL},
    {"Rows", NULL},
    {"  111 » f         f, called from line 111", "  111 -> f        f, called from line 111"},
    {"  ? » f           f, called from a line that the runtime does not know; * » f: compared as one, "
     "from whatever lines",
     "  ? -> f          f, called from a line that the runtime does not know; * -> f: compared as "
     "one, from whatever lines"},
    {"  111 » [I] f     f, inlined at line 111", "  111 -> [I] f    f, inlined at line 111"},
    {"  « f             called by f (bottom-up)", "  <- f            called by f (bottom-up)"},
    {"  x.c:12          a statement with its own costs", NULL},
    {"  a<…>::f(…)      f, with arguments for which there is no room: i shows them",
     "  a<...>::f(...)  f, with arguments for which there is no room: i shows them"},
    {"", NULL},
    {"Source", NULL},
    {"  Percentages are what lines cost in the row's procedure there (flat: everywhere), by what "
     "rows are sorted by; of callers the calls.",
     NULL},
    {"  ↻ a loop begins   » calls, or inlines", "  @ a loop begins   * calls, or inlines"},
    {"", NULL},
    {"Finding", NULL},
    {"  What is looked for is a regular expression over what rows show, their names and places; "
     "after name:, file: or module: over the name or the whole path. Upper and lower case are the "
     "same unless it has upper case. Escape while typing goes back to where you were.",
     NULL},
    {"", NULL},
    {"Filters", NULL},
    {"  They hold in every view. The costs of rows stay what they are: of everything below, shown "
     "or not. Where a row is left out (&!, x s) what is below takes its place. In the bottom-up "
     "view & looks at procedures only, not at their callers.",
     NULL},
};

#define N_EXPLANATION (sizeof explanation / sizeof *explanation)
#define KEYS_WIDTH    16

static void add_keys(struct text *out)
{
    size_t n;
    const struct key_help *keys = keys_help(&n);
    for (size_t i = 0; i < n; i++) {
        if (keys[i].keys)
            text_printf(out, "  %-*s", KEYS_WIDTH, keys[i].keys);
        text_printf(out, "%s\n", keys[i].what);
    }
}

static void add_explanation(bool ascii, struct text *out)
{
    for (size_t i = 0; i < N_EXPLANATION; i++) {
        const struct explanation *at = &explanation[i];
        text_printf(out, "%s\n", ascii && at->in_ascii ? at->in_ascii : at->text);
    }
}

void tui_help(struct tui *tui)
{
    struct text text = {0};
    add_keys(&text);
    text_add(&text, "\n");
    add_explanation(tui->ascii, &text);
    tui_show_text(tui, "help", text_string(&text), COMMAND_HELP);
    vec_free(&text);
}
