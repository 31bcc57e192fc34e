#include "viewer-tui/terminal/list.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screen.h"

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
static bool move(struct list *list, enum command command, size_t page)
{
    size_t last = list->n ? list->n - 1 : 0, at = list->selected;
    switch (command) {
    case COMMAND_UP:
    case COMMAND_ROLL_UP: at -= at > 0; break;
    case COMMAND_DOWN:
    case COMMAND_ROLL_DOWN: at++; break;
    case COMMAND_PAGE_UP: at -= at > page ? page : at; break;
    case COMMAND_PAGE_DOWN: at += page; break;
    case COMMAND_HALF_UP: at -= at > page / 2 ? page / 2 : at; break;
    case COMMAND_HALF_DOWN: at += page / 2; break;
    case COMMAND_FIRST: at = 0; break;
    case COMMAND_LAST: at = last; break;
    default: return false;
    }
    list->selected = at < last ? at : last;
    return true;
}

int list_run(struct list *list)
{
    for (;;) {
        int height_left = screen_height() - 2 - (int)list->n_heads;
        size_t height = height_left > 1 ? (size_t)height_left : 1;
        if (list->n && list->selected >= list->n)
            list->selected = list->n - 1;
        draw(list, height);
        int key = screen_key();
        if (key != KEY_NOTHING && !move(list, keys_command(key), height))
            return key;
    }
}
