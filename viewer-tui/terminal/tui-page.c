/* A screen full of lines that can be scrolled. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"

void tui_draw_page_frame(const char *title, const char *help)
{
    int width = screen_width(), height = screen_height();
    screen_fill(0, 0, width, STYLE_BAR);
    int at = screen_put(0, 0, width, STYLE_BAR, " hpcviewer: ");
    screen_put(0, at, width - at, STYLE_BAR, title);
    screen_fill(height - 1, 0, width, STYLE_BAR);
    screen_put(height - 1, 0, width, STYLE_BAR, help);
}

void tui_page(const char *title, int (*draw)(const void *context, int first), const void *context)
{
    int first = 0;
    for (;;) {
        screen_begin();
        tui_draw_page_frame(title, " Up, Down, PgUp, PgDn: scroll   q: back");
        int n = draw(context, first);
        screen_end();
        int page = screen_height() - 2, last = n > page ? n - page : 0;
        int key = screen_key();
        switch (keys_command(key)) {
        case COMMAND_UP:
        case COMMAND_ROLL_UP: first--; break;
        case COMMAND_DOWN:
        case COMMAND_ROLL_DOWN: first++; break;
        case COMMAND_PAGE_UP: first -= page; break;
        case COMMAND_PAGE_DOWN: first += page; break;
        case COMMAND_FIRST: first = 0; break;
        case COMMAND_LAST: first = last; break;
        case COMMAND_QUIT:
        case COMMAND_HELP:
        case COMMAND_ADVICE:
        case COMMAND_THREADS:
        case COMMAND_SUMMARY:
        case COMMAND_INSPECT:
        case COMMAND_TOGGLE: return;
        default: break;
        }
        if (key == KEY_GONE || key == KEY_ESCAPE)
            return;
        first = first > last ? last : first;
        first = first < 0 ? 0 : first;
    }
}
