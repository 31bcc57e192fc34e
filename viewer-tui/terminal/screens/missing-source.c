/* Rows without source: explanations in its place, and the nearest line of the user's own code (code-owner.h) that leads
 * there. Code of a runtime that is tagged as overhead has the tag in place of its file name (lib/source-names.h). */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/source-names.h"
#include "viewer-tui/advice/parallelization.h"
#include "viewer-tui/tree/code-owner.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

bool tui_add_tag(const struct tui *tui, const char *path, struct text *out)
{
    const char *kind = overhead_kind(path);
    if (!kind)
        return false;
    bool is_named = strcmp(kind, "overhead") != 0;
    text_say(out, tui->ascii, " overhead of the runtime%s%s ", is_named ? ": " : "", is_named ? kind : "");
    return true;
}

/* Explains an overhead tag. */
static void explain_tag(const char *kind, bool ascii, struct text *out)
{
    const char *meaning = overhead_kind_meaning(kind);
    bool is_named = strcmp(kind, "overhead") != 0;
    text_say(out, ascii,
             "Code of the parallel runtime, tagged as overhead%s%s%s%s. The tag stands in place of the name of the "
             "runtime's file, so there is no source to show. What is spent here counts as overhead, not as work: a "
             "coarser grain reduces it. The rows above show which parallel code causes it.",
             is_named ? " of the kind " : "", is_named ? kind : "", meaning ? ": " : "", meaning ? meaning : "");
}

/* Whether the innermost procedure around a row, or the row itself, is the user's own. */
static bool is_in_own_code(const struct view *view, uint32_t row)
{
    view = view_origin(view, &row);
    while (row != 0 && !row_is_procedure(view_row(view, row)))
        row = view_row(view, row)->parent;
    return code_owner(view, row) == CODE_OWN;
}

/* The row that tui_go_to_own_call selects; NOTHING: none. */
static uint32_t nearest_own_call(struct tui *tui)
{
    const struct view *view = tui_pane(tui)->view;
    uint32_t row = pane_row(tui_pane(tui)), origin_row = row;
    if (view_origin(view, &origin_row)->class != &topdown_class || is_in_own_code(view, row))
        return NOTHING;
    for (; row != 0; row = view_row(view, row)->parent) {
        origin_row = row;
        const struct view *origin = view_origin(view, &origin_row);
        if (view_row(origin, origin_row)->call_line && is_in_own_code(view, view_row(view, row)->parent))
            return row;
    }
    return NOTHING;
}

bool tui_go_to_own_call(struct tui *tui)
{
    uint32_t row = nearest_own_call(tui);
    if (row == NOTHING)
        return false;
    pane_select(tui_pane(tui), row);
    tui->source_scroll = (struct source_scroll){.at_call = true};
    return true;
}

void tui_explain_missing(struct tui *tui, const struct shown_source *shown, struct text *out)
{
    const char *path = database_file_path(shown->view->db, shown->file);
    uint32_t row = pane_row(tui_pane(tui)), own = nearest_own_call(tui);
    const struct view *view = tui_pane(tui)->view, *origin = view_origin(view, &row);
    if (path && overhead_kind(path)) {
        explain_tag(overhead_kind(path), tui->ascii, out);
        return;
    }
    if (own != NOTHING) {
        const struct view *of_call = view_origin(view, &own);
        autofree struct text line = {0};
        label_file_line(of_call->db, view_row(of_call, own)->call_file, view_row(of_call, own)->call_line, &line);
        text_say(out, tui->ascii, "No source here; nearest line of yours: %s (press w). ", text_string(&line));
    }
    if (view_row(origin, row)->kind <= KIND_MODULE) /* has no code */
        return;
    if (shown->file == NOTHING || database_file_point(shown->view->db, shown->file))
        text_add(out, "The source lines of this code are unknown: its binary was built without -g, or its debugging "
                      "information is not installed.");
    else
        text_add(out, "The database has no copy of this file, and there is no file at its path. Start with -I DIR to "
                      "search it below a directory, or with -R OLD=NEW where paths that begin with OLD begin with NEW "
                      "now.");
}
