/* The nearest line of the user's own code (code-owner.h) that leads to a row in code of others, e.g. a
 * futex or another procedure of the C library. */
#include "viewer-tui/terminal/screens/source-pane.h"

#include "viewer-tui/tree/code-owner.h"
#include "viewer-tui/tree/labels.h"

/* Whether the innermost procedure around a row, or the row itself, is the user's own. */
static bool is_in_own_code(const struct view *view, uint32_t row)
{
    view = view_origin(view, &row);
    while (row != 0 && !row_is_procedure(view_row(view, row)))
        row = view_row(view, row)->parent;
    return code_owner(view, row) == CODE_OWN;
}

static bool is_topdown(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &topdown_class;
}

static bool has_call_line(const struct view *view, uint32_t row)
{
    view = view_origin(view, &row);
    return view_row(view, row)->call_line != 0;
}

uint32_t tui_nearest_own_call(struct tui *tui)
{
    const struct view *view = tui_pane(tui)->view;
    uint32_t row = pane_row(tui_pane(tui));
    if (!is_topdown(view) || is_in_own_code(view, row))
        return NOTHING;
    for (; row != 0; row = view_row(view, row)->parent)
        if (has_call_line(view, row) && is_in_own_code(view, view_row(view, row)->parent))
            return row;
    return NOTHING;
}

void tui_add_own_call(struct tui *tui, struct text *out)
{
    uint32_t row = tui_nearest_own_call(tui);
    if (row == NOTHING)
        return;
    const struct view *origin = view_origin(tui_pane(tui)->view, &row);
    const struct row *call = view_row(origin, row);
    struct text line = {0};
    label_file_line(origin->db, call->call_file, call->call_line, &line);
    text_add(out, "nearest line of yours: ");
    text_add_clean(out, text_string(&line), tui->ascii);
    text_add(out, " (press w)");
    vec_free(&line);
}

bool tui_go_to_own_call(struct tui *tui)
{
    uint32_t row = tui_nearest_own_call(tui);
    if (row == NOTHING)
        return false;
    pane_select(tui_pane(tui), row);
    tui->source_scroll = (struct source_scroll){.at_call = true};
    return true;
}
