/* What stands in place of source that has none: a runtime's code that is tagged as overhead, whose
 * file is called after the tag (lib/source-names.h). */
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

static void explain(const char *kind, bool ascii, struct text *out)
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
                "coarser grain makes it less. The rows above tell for whose parallelism the "
                "runtime does it.",
                meaning ? ": " : "", meaning ? meaning : "");
}

static void draw_title(const struct tui *tui, struct area area, const char *kind)
{
    struct text title = {0};
    text_add(&title, " overhead of the runtime");
    if (is_named(kind)) {
        text_add(&title, ": ");
        text_add_clean(&title, kind, tui->ascii);
    }
    text_add(&title, " ");
    screen_rule(area.line, area.column, area.width);
    screen_put(area.line, area.column + 2, area.width - 4, STYLE_PLAIN, text_string(&title));
    vec_free(&title);
}

bool tui_draw_tag(const struct tui *tui, struct area area, const char *path)
{
    const char *kind = path ? overhead_kind(path) : NULL;
    struct text words = {0};
    if (!kind)
        return false;
    draw_title(tui, area, kind);
    explain(kind, tui->ascii, &words);
    page_draw_paragraph((struct area){area.line + 1, area.column, area.height - 1, area.width},
                   text_string(&words));
    vec_free(&words);
    return true;
}
