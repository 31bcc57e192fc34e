/* Pages of text, and what lists and pages share. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/compare/session-advice.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/output/disassembly.h"
#include "viewer-tui/output/inspect.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* Most columns of a line; longer lines are hard to read. */
#define MOST_COLUMNS 100

void tui_show_text(struct tui *tui, const char *title, const char *text, const struct command *opener)
{
    page_show(tui, &(struct page){.title = title, .text = text, .opener = opener});
}

bool tui_closes(struct tui *tui, int key)
{
    const struct command *command = command_of_key(key);
    if (key == KEY_GONE || key == KEY_ESCAPE || key_is_of(key, tui_quit) || (command && command == tui->command))
        return true;
    if (command && command->obey == tui_help)
        tui_help(tui);
    else if (command && command->flags & PAGE)
        tui->next = command;
    return tui->next != NULL;
}

/* Adds the advice on a row, or what changed there. False if the user stopped it, or there is no memory. */
static bool add_advice(struct tui *tui, uint32_t row, const char **title, struct text *text)
{
    /* Advice on the whole program is that of the summary, in all views. */
    struct view *view = row ? tui_pane(tui)->view : session_view(tui->session, tui->projection, TOP_DOWN);
    int width = screen_width();
    struct advice_lines lines = {.width = (size_t)(width < MOST_COLUMNS ? width : MOST_COLUMNS), .ascii = tui->ascii};
    bool is_any;
    if (!view)
        return false;
    if (session_describe_advice(tui->session, view, row, &lines, title, &is_any) != DONE) {
        tui_say(tui, "stopped");
        vec_free(&lines.text);
        return false;
    }
    describe_name(view, row, tui->ascii, text);
    text_add(text, "  ");
    describe_location(view, row, tui->ascii, text);
    const char *part = hotspots_part(view) == INCLUSIVE ? "  with everything below it\n"
                                                        : "  its own costs, without those of what it calls\n";
    text_printf(text, "\n%s\n%s", row == 0 ? "" : part, text_string(&lines.text));
    vec_free(&lines.text);
    return true;
}

/* On the selected row, then on the whole program, whose first line the screen has; of two databases what changed. */
static void show_advice(struct tui *tui)
{
    uint32_t row = pane_row(tui_pane(tui));
    autofree struct text text = {0};
    const char *title;
    if (!tui_is_of_one_run(tui, "advice", true))
        return;
    tui_announce("looking for work, idleness and overhead ...");
    if (row && !add_advice(tui, row, &title, &text))
        return;
    text_add(&text, row ? "\n" : "");
    if (add_advice(tui, 0, &title, &text))
        tui_show_text(tui, title, text_string(&text), tui->command);
}

void tui_inspect(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    autofree struct text text = {0};
    inspect_row(pane->view, pane_row(pane), tui->session->run, tui->projection == PHYSICAL, tui->ascii, &text);
    tui_show_text(tui, "one row", text_string(&text), tui->command);
}

void tui_disassemble(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    const char *why;
    autofree struct text text = {0};
    struct disassembly listing = {
        .sources = &tui->sources, .width = (size_t)screen_width(), .ascii = tui->ascii, .out = &text};
    if (disassembly_of_row(&listing, pane->view, pane_row(pane), &why)) {
        page_show(tui, &(struct page){.title = "instructions",
                                      .text = text_string(&text),
                                      .opener = tui->command,
                                      .first = (long)listing.first_line - screen_height() / 2});
    } else {
        text_printf(&tui->message, "no instructions: %s", why);
    }
}

void tui_report(struct tui *tui, enum printed page, const struct command *opener)
{
    struct print_options options = {.projection = tui->projection, .min_percent = -1, .width = (size_t)screen_width()};
    autofree char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    tui_announce("adding up ...");
    print_page(page, tui->session, &options, out);
    bool is_written = fclose(out) == 0;
    if (is_written && size == 0)
        tui_say(tui, "stopped");
    else if (is_written)
        tui_show_text(tui, printed_pages[page].word, text, opener);
}

/* ---- help ---- */

/* What the help says after the keys and the metrics, and its form in ASCII. */
static const char explanation[] =
    "Costs\n"
    "  inclusive: the scope and everything below it; exclusive: the scope alone. Recursion counts once. Percentages "
    "are shares of the whole program. \"-\": not measured.\n"
    "  Effort is work, overhead and idleness. If it is shown, their percentages are shares of the whole program's "
    "effort. Kinds of overhead are parts of it, as tagged by the runtime.\n"
    "\n"
    "Rows\n"
    "  111 » f         f, called from line 111\n"
    "  ? » f           f, called from a line that the runtime does not know; * » f: a comparison, calls from several "
    "lines\n"
    "  111 » [I] f     f, inlined at line 111\n"
    "  « f             called by f (bottom-up)\n"
    "  x.c:12          a statement with costs of its own\n"
    "  a<…>::f(…)      f; its arguments do not fit: i shows them\n"
    "  main thread > ... > main  start code of libc or the language, folded; Enter shows it\n"
    "\n"
    "Source\n"
    "  Percentages: cost of a line in the row's procedure and calling context (flat: in all contexts), by the metric "
    "that rows are sorted by; for callers the cost of their calls.\n"
    "  ↻ a loop begins   ◊ calls, or inlines\n"
    "\n"
    "Finding\n"
    "  A search is a regular expression that is compared with names and places as rows show them; with name:, file: or "
    "module: before it, with the full name or path. Case counts only if the expression has upper case. Escape goes back "
    "to where the search began.\n"
    "\n"
    "Filters\n"
    "  Filters apply to every view. They do not change costs: a row still includes all rows below it, shown or hidden. "
    "The children of a hidden row (&!, x s) take its place. In the bottom-up view & looks at procedures, not at their "
    "callers.\n";

/* Signs of the explanation. "◊" stands for "»" where ASCII has another sign for it than in rows. */
static const struct {
    const char *sign, *utf8, *ascii;
} signs[] = {{"»", "»", "->"}, {"«", "«", "<-"}, {"…", "…", "..."}, {"↻", "↻", "@"}, {"◊", "»", "*"}};

/* In ASCII some signs are longer; as many spaces of the gap after them are left out. */
static void add_explanation(bool ascii, struct text *out)
{
    size_t too_long = 0;
    for (const char *at = explanation; *at;) {
        size_t i = 0;
        while (i < sizeof signs / sizeof *signs && strncmp(at, signs[i].sign, strlen(signs[i].sign)) != 0)
            i++;
        if (i < sizeof signs / sizeof *signs) {
            text_add(out, ascii ? signs[i].ascii : signs[i].utf8);
            too_long += ascii ? strlen(signs[i].ascii) - 1 : 0;
            at += strlen(signs[i].sign);
        } else if (too_long && strncmp(at, "  ", 2) == 0) {
            too_long--;
            at++;
        } else {
            too_long = *at == '\n' ? 0 : too_long;
            text_add_bytes(out, at++, 1);
        }
    }
}

#define KEYS_WIDTH 16

static void add_keys(const struct family *family, struct text *out)
{
    text_printf(out, "%s\n", family->heading);
    for (const struct command *command = family->commands; command->keys; command++)
        text_printf(out, "  %-*s  %s\n", KEYS_WIDTH - 2, command->keys, command->help);
}

void tui_help(struct tui *tui)
{
    autofree struct text text = {0};
    size_t n;
    const struct metric_kind *kinds = metric_kinds(&n);
    /* That of what is shown: a page with keys of its own, or what a command opened; NULL: the tree. */
    const struct family *first = tui->time_page ? &time_family : tui->thread_page ? &thread_family : NULL;
    bool is_opened = !first && tui->command->obey != tui_help;
    for (const struct family *const *family = command_families; *family && is_opened; family++)
        for (const struct command *command = (*family)->commands; command->keys; command++)
            if (command == tui->command)
                first = *family;
    if (first)
        add_keys(first, &text);
    for (const struct family *const *family = command_families; *family; family++)
        if (*family != first)
            add_keys(*family, &text);
    text_add(&text, "\nMetrics\n");
    for (size_t i = 0; i < n; i++)
        if (!kinds[i].is_internal)
            text_printf(&text, "  %-*s%s\n", KEYS_WIDTH, kinds[i].name, kinds[i].meaning);
    text_add(&text, "\n");
    add_explanation(tui->ascii, &text);
    tui_show_text(tui, "help", text_string(&text), command_of_key('?'));
}

void tui_switch(struct tui *tui)
{
    bool *is_on = (bool *)((char *)tui + tui->command->argument);
    *is_on = !*is_on;
}

void tui_redraw(struct tui *tui)
{
    (void)tui;
    screen_redraw();
}

/* The loop of the viewer ends after the command, unless threads that the user chose come back. */
void tui_quit(struct tui *tui)
{
    tui->has_quit = !tui_leave_restriction(tui);
}

const struct family other_family = {
    "Others", COMMANDS({"a", "advice on the row, then on the program; comparing: what changed", show_advice, 0, PAGE},
                       {"^L", "redraw the screen", tui_redraw, 0, 0},
                       {"?, F1", "this help; like 1 to 6 it works on every page", tui_help, 0, PAGE},
                       {"q, F10, ^C, Q", "quit; close a page", tui_quit, 0, 0})};
