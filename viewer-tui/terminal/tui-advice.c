/* The screen with advice on the selected row. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/views/describe.h"

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

static void add_advice(struct view *view, uint32_t row, const json_t *run, bool ascii,
                       struct text *out)
{
    int width = screen_width();
    struct advices advices = advice_on(view, row, run);
    struct advice_lines lines = {.width = (size_t)(width < MOST_COLUMNS ? width : MOST_COLUMNS),
                                 .ascii = ascii};
    advice_describe(&advices, view, row, &lines);
    for (size_t i = 0; i < lines.list.n; i++)
        text_printf(out, "%s\n", lines.list.at[i]);
    advice_lines_free(&lines);
    vec_free(&advices.list);
}

void tui_advice(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    struct view *view = pane->view;
    uint32_t row = pane_row(pane);
    struct text text = {0};
    tui_announce("looking for what carries idleness and overhead ...");
    if (row == 0) /* of the whole program it is the same in all views: that of the summary */
        view = session_view(tui->session, tui->projection, TOP_DOWN);
    add_scope(view, row, tui->ascii, &text);
    add_advice(view, row, tui->session->run, tui->ascii, &text);
    tui_show_text("advice", text_string(&text));
    vec_free(&text);
}
