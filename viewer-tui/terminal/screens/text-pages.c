#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/output/disassembly.h"
#include "viewer-tui/output/inspect.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* Most columns of a line; longer lines are hard to read. */
#define MOST_COLUMNS 100

/* A width at which every paragraph is one line. */
#define WHOLE_PARAGRAPH 100000

static void show_page(struct tui *tui, struct page *page)
{
    do {
        tui->next = page_show(page);
        if (tui->next != COMMAND_HELP)
            return;
        tui->next = COMMAND_NONE;
        tui_help(tui);
    } while (tui->next == COMMAND_NONE);
}

void tui_show_text(struct tui *tui, const char *title, const char *text, enum command opener)
{
    struct page page = {.title = title, .text = text, .opener = opener};
    show_page(tui, &page);
}

bool tui_closes(struct tui *tui, int key, enum command opener)
{
    enum command command = keys_command(key);
    if (key == KEY_GONE || key == KEY_ESCAPE || command == COMMAND_QUIT || command == opener)
        return true;
    if (command == COMMAND_HELP)
        tui_help(tui);
    else if (command_opens_page(command))
        tui->next = command;
    return tui->next != COMMAND_NONE;
}

/* The costs that the advice is about. */
static const char *part_text(const struct view *view, uint32_t row)
{
    if (row == 0)
        return "";
    return hotspots_part(view) == INCLUSIVE ? "  with everything below it\n"
                                            : "  its own costs, without those of what it calls\n";
}

/* Adds the row that the advice is about. */
static void add_scope(const struct view *view, uint32_t row, bool ascii, struct text *out)
{
    describe_name(view, row, ascii, out);
    text_add(out, "  ");
    describe_location(view, row, ascii, out);
    text_printf(out, "\n%s\n", part_text(view, row));
}

/* Returns whether there is any. */
static bool add_advice(const struct tui *tui, struct view *view, uint32_t row,
                       struct advice_lines *lines)
{
    struct advice advice = advice_on(view, row, tui->session->run);
    bool is_any = advice.findings.list.n > 0;
    advice_describe(&advice, lines);
    advice_free(&advice);
    return is_any;
}

static bool add_changes(const struct comparison *comparison, struct view *view, uint32_t row,
                        struct advice_lines *lines)
{
    struct changes_list changes = changes_of(comparison, view, row);
    bool is_any = changes.n > 0;
    changes_describe(&changes, comparison, view, row, lines);
    vec_free(&changes);
    return is_any;
}

/* Adds the advice on a row, or of two databases what changed there; false if there is none. */
static bool describe(const struct tui *tui, struct view *view, uint32_t row,
                     struct advice_lines *lines)
{
    const struct comparison *comparison = session_comparison(tui->session, tui->projection);
    return comparison ? add_changes(comparison, view, row, lines)
                      : add_advice(tui, view, row, lines);
}

void tui_advice(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    struct view *view = pane->view;
    uint32_t row = pane_row(pane);
    int width = screen_width();
    struct advice_lines lines = {.width = (size_t)(width < MOST_COLUMNS ? width : MOST_COLUMNS),
                                 .ascii = tui->ascii};
    struct text text = {0};
    tui_announce("looking for work, idleness and overhead ...");
    if (row == 0) /* advice on the whole program is that of the summary, in all views */
        view = session_view(tui->session, tui->projection, TOP_DOWN);
    if (!view)
        return;
    describe(tui, view, row, &lines);
    add_scope(view, row, tui->ascii, &text);
    for (size_t i = 0; i < lines.list.n; i++)
        text_printf(&text, "%s\n", lines.list.at[i]);
    tui_show_text(tui, session_is_comparison(tui->session) ? "what changed" : "advice",
                  text_string(&text), COMMAND_ADVICE);
    advice_lines_free(&lines);
    vec_free(&text);
}

/* A progress_listener: stops for a key. */
static bool stop_for_key(const char *what, int percent)
{
    (void)what;
    (void)percent;
    return !screen_key_pressed();
}

bool tui_find_headline(struct tui *tui)
{
    if (session_has_losses(tui->session))
        return true;
    struct view *view = session_view(tui->session, tui->projection, TOP_DOWN);
    struct advice_lines lines = {.width = WHOLE_PARAGRAPH, .ascii = tui->ascii};
    if (!view || screen_key_pressed())
        return false;
    progress_listen(stop_for_key);
    bool is_any = describe(tui, view, 0, &lines);
    progress_listen(tui_tell_progress);
    bool is_done = !screen_key_pressed();
    text_clear(&tui->headline);
    if (is_done && is_any)
        text_printf(&tui->headline, "advice: %s", lines.list.at[0] + strspn(lines.list.at[0], " "));
    advice_lines_free(&lines);
    return is_done;
}

void tui_inspect(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    struct text text = {0};
    inspect_row(pane->view, pane_row(pane), tui->session->run, tui->projection == PHYSICAL,
                tui->ascii, &text);
    tui_show_text(tui, "one row", text_string(&text), COMMAND_INSPECT);
    vec_free(&text);
}

void tui_disassemble(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    const char *why;
    struct text text = {0};
    struct disassembly listing = {.sources = &tui->sources,
                                  .width = (size_t)screen_width(),
                                  .ascii = tui->ascii,
                                  .out = &text};
    if (disassembly_of_row(&listing, pane->view, pane_row(pane), &why)) {
        struct page page = {.title = "instructions",
                            .text = text_string(&text),
                            .opener = COMMAND_DISASSEMBLE,
                            .first = (long)listing.first_line - screen_height() / 2};
        show_page(tui, &page);
    } else {
        text_printf(&tui->message, "no instructions: %s", why);
    }
    vec_free(&text);
}

void tui_report(struct tui *tui, const char *title, enum command opener,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out))
{
    struct print_options options = {
        .projection = tui->projection, .min_percent = -1, .width = (size_t)screen_width()};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    tui_announce("adding up ...");
    print(tui->session, &options, out);
    if (fclose(out) == 0)
        tui_show_text(tui, title, text, opener);
    free(text);
}
