/* Marking what matches what the user looks for. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"

void tui_draw_match(const struct tui *tui, struct area area, const char *text, size_t from)
{
    size_t start, end;
    bool is_about_text = tui->wanted && tui->wanted->field <= PATTERN_NAME;
    if (!tui->shows_matches || !is_about_text ||
        !pattern_find(tui->wanted, text + from, &start, &end))
        return;
    struct text piece = {0};
    text_add_bytes(&piece, text, from + start);
    int at = (int)text_columns(text_string(&piece));
    text_clear(&piece);
    text_add_bytes(&piece, text + from + start, end - start);
    screen_put(area.line, area.column + at, area.width - at, STYLE_MATCH, text_string(&piece));
    vec_free(&piece);
}
