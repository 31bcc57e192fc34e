/* The help screen. */
#include "viewer-tui/terminal/screens/text-pages.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/terminal/keys.h"

#include <stdlib.h>

/* A line of text, and its form in ASCII if that differs. */
static const struct explanation {
    const char *text, *in_ascii;
} explanation[] = {
    {"Costs", NULL},
    {"  inclusive: the scope and everything below it; exclusive: the scope alone. Recursion counts "
     "once. Percentages are shares of the whole program. \"-\": not measured.",
     NULL},
    {"  Effort is work, overhead and idleness. If it is shown, their percentages are shares of the whole "
     "program's effort. Kinds of overhead are parts of it, as tagged by the runtime.",
     NULL},
    {"", NULL},
    {"Rows", NULL},
    {"  111 » f         f, called from line 111", "  111 -> f        f, called from line 111"},
    {"  ? » f           f, called from a line that the runtime does not know; * » f: a comparison, calls "
     "from several lines",
     "  ? -> f          f, called from a line that the runtime does not know; * -> f: a comparison, "
     "calls from several lines"},
    {"  111 » [I] f     f, inlined at line 111", "  111 -> [I] f    f, inlined at line 111"},
    {"  « f             called by f (bottom-up)", "  <- f            called by f (bottom-up)"},
    {"  x.c:12          a statement with costs of its own", NULL},
    {"  a<…>::f(…)      f; its arguments do not fit: i shows them",
     "  a<...>::f(...)  f; its arguments do not fit: i shows them"},
    {"  main thread > ... > main  start code of libc or the language, folded; Enter shows it",
     NULL},
    {"", NULL},
    {"Source", NULL},
    {"  Percentages: cost of a line in the row's procedure and calling context (flat: in all contexts), by "
     "the metric that rows are sorted by; for callers the cost of their calls.",
     NULL},
    {"  ↻ a loop begins   » calls, or inlines", "  @ a loop begins   * calls, or inlines"},
    {"", NULL},
    {"Finding", NULL},
    {"  A search is a regular expression that is compared with names and places as rows show them; with "
     "name:, file: or module: before it, with the full name or path. Case counts only if the expression "
     "has upper case. Escape goes back to where the search began.",
     NULL},
    {"", NULL},
    {"Filters", NULL},
    {"  Filters apply to every view. They do not change costs: a row still includes all rows below it, "
     "shown or hidden. The children of a hidden row (&!, x s) take its place. In the bottom-up view & "
     "looks at procedures, not at their callers.",
     NULL},
};

#define N_EXPLANATION (sizeof explanation / sizeof *explanation)
#define KEYS_WIDTH    16

/* What the metrics mean. */
static void add_metrics(struct text *out)
{
    size_t n;
    const struct metric_kind *kinds = metric_kinds(&n);
    text_add(out, "Metrics\n");
    for (size_t i = 0; i < n; i++)
        if (!kinds[i].is_internal)
            text_printf(out, "  %-*s%s\n", KEYS_WIDTH, kinds[i].name, kinds[i].meaning);
    text_add(out, "\n");
}

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
    add_metrics(&text);
    add_explanation(tui->ascii, &text);
    tui_show_text(tui, "help", text_string(&text), COMMAND_HELP);
    vec_free(&text);
}
