/* Words in place of something that could be shown. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>

void tui_draw_words(struct area area, const char *words)
{
    struct text line = {0};
    int margin = area.width > 4 ? 2 : 0;
    size_t width = area.width > 2 * margin ? (size_t)(area.width - 2 * margin) : 1;
    for (int i = 0; i < area.height && text_take_line(&words, width, &line); i++)
        screen_put(area.line + i, area.column + margin, (int)width, STYLE_PLAIN,
                   text_string(&line));
    vec_free(&line);
}
