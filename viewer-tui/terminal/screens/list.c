#include "viewer-tui/terminal/screens/list.h"

#include "viewer-tui/terminal/screens/tui.h"

#include <assert.h>
#include <string.h>

static const char above_all[] = " hpcviewer: ";

size_t frame_title_room(void)
{
    size_t width = (size_t)screen_width(), used = strlen(above_all);
    return width > used ? width - used : 0;
}

/* The columns of the hints that fit as a whole; two blanks separate them. */
static int hints_fitting(const char *hints, int width)
{
    int end = (int)strlen(hints), fitting = 0;
    for (int at = 1; at <= width && at <= end; at++)
        if (at == end || strncmp(hints + at, "  ", 2) == 0)
            fitting = at;
    return fitting ? fitting : width;
}

void frame_draw(const char *title, const char *help)
{
    int width = screen_width(), last = screen_height() - 1;
    screen_fill(0, 0, width, STYLE_BAR);
    int used = screen_put(0, 0, width, STYLE_BAR, above_all);
    screen_put(0, used, width - used, STYLE_BAR, title);
    screen_fill(last, 0, width, STYLE_BAR);
    screen_put(last, 0, hints_fitting(help, width), STYLE_BAR, help);
}

static size_t rows_in(const struct list *list, struct area area)
{
    int rows = area.height - (int)list->n_heads;
    return rows > 1 ? (size_t)rows : 1;
}

void list_draw(struct list *list, struct area area)
{
    autofree struct text text = {0};
    size_t height = rows_in(list, area), n = list->scroller.n;
    scroller_follow(&list->scroller, height, 0);
    for (size_t i = 0; i < list->n_heads + height; i++) {
        bool is_head = i < list->n_heads;
        size_t row = list->scroller.top + i - list->n_heads;
        enum style style = !is_head && row == list->scroller.selected ? STYLE_SELECTED : STYLE_PLAIN;
        text_clear(&text);
        if (!is_head && row >= n)
            break;
        list->line(list->context, is_head ? i : list->n_heads + row, &text);
        screen_fill(area.line + (int)i, area.column, area.width, style);
        screen_put(area.line + (int)i, area.column, area.width, style, text_string(&text));
    }
    if (n == 0 && list->empty)
        screen_put(area.line + (int)list->n_heads, area.column, area.width, STYLE_PLAIN, list->empty);
}

int list_run(struct tui *tui, struct list *list)
{
    assert(list->line);
    for (;;) {
        const struct command *opener = tui->command, *command;
        struct area area = {1, 0, screen_height() - 2, screen_width()};
        long rows;
        screen_begin();
        frame_draw(list->title, list->help);
        list_draw(list, area);
        screen_end();
        int key = screen_key();
        if (list->family && (command = command_in_family(list->family, key))) {
            tui->command = command;
            command->obey(tui);
            tui->command = opener;
            return key;
        }
        if (list->own_keys && key > 0 && key < 0x80 && strchr(list->own_keys, key))
            return key;
        if (key_is_move(key, (long)rows_in(list, area), (long)list->scroller.n, &rows))
            scroller_move(&list->scroller, rows);
        else if (key_is_of(key, tui_toggle))
            return '\r';
        else if (tui_closes(tui, key))
            return KEY_GONE;
    }
}
