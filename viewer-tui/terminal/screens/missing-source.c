/* Explanations in place of source. Code of a runtime that is tagged as overhead has the tag in place of
 * its file name (lib/source-names.h). */
#include "viewer-tui/terminal/screens/source-pane.h"

#include "lib/source-names.h"
#include "viewer-tui/advice/overhead-kinds.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screen.h"

#include <string.h>

static bool is_named(const char *kind)
{
    return strcmp(kind, "overhead") != 0;
}

static void explain_tag(const char *kind, bool ascii, struct text *out)
{
    const char *meaning = overhead_kind_meaning(kind);
    text_add(out, "Code of the parallel runtime, tagged as overhead");
    if (is_named(kind)) {
        text_add(out, " of the kind ");
        text_add_clean(out, kind, ascii);
    }
    text_printf(out,
                "%s%s. The tag stands in place of the name of the runtime's file, so there is "
                "no source to show. What is spent here counts as overhead, not as work: a "
                "coarser grain reduces it. The rows above show which parallel code causes it.",
                meaning ? ": " : "", meaning ? meaning : "");
}

bool tui_draw_tag_title(const struct tui *tui, struct area area, const char *path)
{
    const char *kind = path ? overhead_kind(path) : NULL;
    struct text title = {0};
    if (!kind)
        return false;
    text_add(&title, " overhead of the runtime");
    if (is_named(kind)) {
        text_add(&title, ": ");
        text_add_clean(&title, kind, tui->ascii);
    }
    text_add(&title, " ");
    screen_rule(area.line, area.column, area.width);
    screen_put(area.line, area.column + 2, area.width - 4, STYLE_PLAIN, text_string(&title));
    vec_free(&title);
    return true;
}

/* Why there is no source, and what to do about it; "" for rows that have no code. */
static const char *why_missing(struct tui *tui, const struct shown_source *shown)
{
    uint32_t number = pane_row(tui_pane(tui));
    const struct view *view = view_origin(tui_pane(tui)->view, &number);
    enum scope_kind kind = view_row(view, number)->kind;
    if (kind <= KIND_MODULE)
        return "";
    if (shown->file == NOTHING || database_file_point(shown->view->db, shown->file))
        return "The source lines of this code are unknown: its binary was built without -g, or "
               "its debugging information is not installed.";
    return "The database has no copy of this file, and there is no file at its path. Start with "
           "-I DIR to search it below a directory, or with -R OLD=NEW where paths that begin with "
           "OLD begin with NEW now.";
}

void tui_explain_missing(struct tui *tui, const struct shown_source *shown, struct text *out)
{
    const char *path = database_file_path(shown->view->db, shown->file);
    struct text nearest = {0};
    if (path && overhead_kind(path)) {
        explain_tag(overhead_kind(path), tui->ascii, out);
        return;
    }
    tui_add_own_call(tui, &nearest);
    if (nearest.n)
        text_printf(out, "No source here; %s. ", text_string(&nearest));
    text_add(out, why_missing(tui, shown));
    vec_free(&nearest);
}
