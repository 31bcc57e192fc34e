/* Drawing a line that the user is typing. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/screen.h"

int tui_draw_edited(const struct line_edit *edited, struct area area)
{
    const char *text = text_string(&edited->text);
    struct text part = {0};
    text_add_bytes(&part, text, edited->cursor);
    size_t length = text_columns(text_string(&part)),
           room = area.width > 1 ? (size_t)area.width - 1 : 0;
    size_t skipped = length > room ? length - room : 0;
    const char *shown = text_skip(text, skipped);
    int used = screen_put(area.line, area.column, area.width, STYLE_PLAIN, shown);
    int cursor = (int)(length - text_columns(text) + text_columns(shown));
    text_clear(&part);
    text_add(&part, edited->cursor < edited->text.n ? text + edited->cursor : " ");
    text_cut(&part, 1);
    screen_put(area.line, area.column + cursor, 1, STYLE_SELECTED,
               part.n ? text_string(&part) : " ");
    vec_free(&part);
    return used > cursor ? used : cursor + 1;
}
