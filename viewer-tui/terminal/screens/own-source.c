/* The nearest line of the program's own source that leads to a row without such source, e.g. a
 * futex or another procedure of the C library. */
#include "viewer-tui/terminal/screens/source-pane.h"

#include "viewer-tui/tree/labels.h"

#include <string.h>

/* Whether a source file belongs to a compiler or a library. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib", 8) == 0;
}

static bool is_own(struct tui *tui, const struct view *origin, uint32_t file)
{
    const char *path = database_file_path(origin->db, file);
    return path && !is_of_system(path) && sources_get(&tui->sources, origin->db, file)->n_lines > 0;
}

static bool is_topdown(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &topdown_class;
}

uint32_t tui_nearest_own_call(struct tui *tui)
{
    const struct view *view = tui_pane(tui)->view;
    uint32_t selected = pane_row(tui_pane(tui)), own_row = selected, file, line;
    const struct view *origin = view_origin(view, &own_row);
    label_place(origin, own_row, &file, &line);
    if (!is_topdown(view) || is_own(tui, origin, file))
        return NOTHING;
    for (uint32_t row = selected; row != 0; row = view_row(view, row)->parent) {
        own_row = row;
        origin = view_origin(view, &own_row);
        const struct row *call = view_row(origin, own_row);
        if (call->call_line && is_own(tui, origin, call->call_file))
            return row;
    }
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
