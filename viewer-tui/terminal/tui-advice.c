/* The screen with advice on the selected row. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/views/describe.h"

#include <stdlib.h>

/* Longer lines are hard to read. */
#define MOST_COLUMNS 100

struct page {
    const struct advices *advices;
    const struct view *view;
    uint32_t row;
    bool ascii;
};

/* Which costs of the row the advice is about. */
static const char *part_text(const struct page *page)
{
    if (page->row == 0)
        return "";
    return carriers_part(page->view) == INCLUSIVE ? "with everything below it"
                                                  : "its own costs, without those of what it calls";
}

/* Draws what the advice is on; the number of lines. */
static int draw_scope(const struct page *page, int first)
{
    struct text name = {0};
    describe_name(page->view, page->row, page->ascii, &name);
    text_add(&name, "  ");
    describe_location(page->view, page->row, page->ascii, &name);
    if (first == 0)
        screen_put(1, 0, screen_width(), STYLE_HEAD, text_string(&name));
    if (first <= 1)
        screen_put(2 - first, 2, screen_width() - 2, STYLE_PLAIN, part_text(page));
    vec_free(&name);
    return 3;
}

static int draw(const void *context, int first)
{
    const struct page *page = context;
    int width = screen_width(), height = screen_height();
    struct advice_lines lines = {.width = (size_t)(width < MOST_COLUMNS ? width : MOST_COLUMNS),
                                 .ascii = page->ascii};
    advice_describe(page->advices, page->view, page->row, &lines);
    int n_before = draw_scope(page, first);
    int n = n_before + (int)lines.list.n;
    for (int line = 1; line < height - 1; line++) {
        int index = first + line - 1 - n_before;
        if (index >= 0 && index < (int)lines.list.n)
            screen_put(line, 0, width, STYLE_PLAIN, lines.list.at[index]);
    }
    advice_lines_free(&lines);
    return n;
}

void tui_advice(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    struct view *view = pane->view;
    uint32_t row = pane_row(pane);
    tui_announce("looking for what carries idleness and overhead ...");
    if (row == 0) /* of the whole program it is the same in all views: that of the summary */
        view = session_view(tui->session, tui->projection, TOP_DOWN);
    struct advices advices = advice_on(view, row, tui->session->run);
    struct page page = {&advices, view, row, tui->ascii};
    tui_page("advice", draw, &page);
    vec_free(&advices.list);
}
