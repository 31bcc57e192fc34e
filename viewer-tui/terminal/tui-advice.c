/* The screen with advice on the selected row. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/compare/changes-text.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/describe.h"

#include <stdlib.h>

/* Longer lines are hard to read. */
#define MOST_COLUMNS 100

/* Which costs of the row the advice is about. */
static const char *part_text(const struct view *view, uint32_t row)
{
    if (row == 0)
        return "";
    return carriers_part(view) == INCLUSIVE ? "  with everything below it\n"
                                            : "  its own costs, without those of what it calls\n";
}

/* What the advice is on. */
static void add_scope(const struct view *view, uint32_t row, bool ascii, struct text *out)
{
    describe_name(view, row, ascii, out);
    text_add(out, "  ");
    describe_location(view, row, ascii, out);
    text_printf(out, "\n%s\n", part_text(view, row));
}

static void add_advice(const struct tui *tui, struct view *view, uint32_t row,
                       struct advice_lines *lines)
{
    struct advice advice = advice_on(view, row, tui->session->run);
    advice_describe(&advice, lines);
    advice_free(&advice);
}

static void add_changes(const struct comparison *comparison, struct view *view, uint32_t row,
                        struct advice_lines *lines)
{
    struct changes_list changes = changes_of(comparison, view, row);
    changes_describe(&changes, comparison, view, row, lines);
    vec_free(&changes);
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
    tui_announce("looking for what carries work, idleness and overhead ...");
    if (row == 0) /* of the whole program it is the same in all views: that of the summary */
        view = session_view(tui->session, tui->projection, TOP_DOWN);
    if (!view)
        return;
    const struct comparison *comparison = session_comparison(tui->session, tui->projection);
    if (comparison)
        add_changes(comparison, view, row, &lines);
    else
        add_advice(tui, view, row, &lines);
    add_scope(view, row, tui->ascii, &text);
    for (size_t i = 0; i < lines.list.n; i++)
        text_printf(&text, "%s\n", lines.list.at[i]);
    tui_show_text(comparison ? "what changed" : "advice", text_string(&text));
    advice_lines_free(&lines);
    vec_free(&text);
}
