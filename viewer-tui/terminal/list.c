#include "viewer-tui/terminal/list.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screen.h"

#include <assert.h>
#include <stdlib.h>

static void draw(struct list *list, size_t height)
{
    struct text text = {0};
    screen_begin();
    page_draw_frame(list->title, list->help);
    if (list->selected < list->top)
        list->top = list->selected;
    if (list->selected >= list->top + height)
        list->top = list->selected - height + 1;
    for (size_t i = 0; i < list->n_heads; i++) {
        text_clear(&text);
        list->head(list->context, i, &text);
        screen_put(1 + (int)i, 0, screen_width(), STYLE_PLAIN, text_string(&text));
    }
    for (size_t i = list->top; i < list->n && i < list->top + height; i++) {
        int line = 1 + (int)(list->n_heads + i - list->top);
        enum style style = i == list->selected ? STYLE_SELECTED : STYLE_PLAIN;
        text_clear(&text);
        list->line(list->context, i, &text);
        screen_fill(line, 0, screen_width(), style);
        screen_put(line, 0, screen_width(), style, text_string(&text));
    }
    if (list->n == 0 && list->empty)
        screen_put(1 + (int)list->n_heads, 0, screen_width(), STYLE_PLAIN, list->empty);
    screen_end();
    vec_free(&text);
}

/* Moves the selection; false for other commands. */
static bool move(struct list *list, enum command command, long page)
{
    long rows = command_rows(command, page, (long)list->n);
    long last = list->n ? (long)list->n - 1 : 0, at = (long)list->selected + rows;
    list->selected = (size_t)(at < 0 ? 0 : at < last ? at : last);
    return rows != 0 || command == COMMAND_FIRST || command == COMMAND_LAST;
}

int list_run(struct list *list)
{
    assert(list->line && (list->n_heads == 0 || list->head));
    for (;;) {
        int height_left = screen_height() - 2 - (int)list->n_heads;
        size_t height = height_left > 1 ? (size_t)height_left : 1;
        if (list->n && list->selected >= list->n)
            list->selected = list->n - 1;
        draw(list, height);
        int key = screen_key();
        if (key != KEY_NOTHING && !move(list, keys_command(key), (long)height))
            return key;
    }
}
