/* The help screen. */
#include "viewer-tui/tui.h"

#include "viewer-tui/keys.h"
#include "viewer-tui/screen.h"

static const char *const explanation[] = {
    "Costs",
    "  inclusive: of the scope and everything below it; exclusive: its own. Recursion is",
    "  counted once. The percentages are shares of the whole program. \"-\": not measured.",
    "",
    "Rows",
    "  111 » f   f, called from line 111        111 » [I] f   f, inlined at line 111",
    "  « f       called by f (bottom-up)        x.c:12        a statement with its own costs",
};

static const char *const explanation_in_ascii[] = {
    "Costs",
    "  inclusive: of the scope and everything below it; exclusive: its own. Recursion is",
    "  counted once. The percentages are shares of the whole program. \"-\": not measured.",
    "",
    "Rows",
    "  111 -> f  f, called from line 111        111 -> [I] f  f, inlined at line 111",
    "  <- f      called by f (bottom-up)        x.c:12        a statement with its own costs",
};

#define N_EXPLANATION ((int)(sizeof explanation / sizeof *explanation))
#define KEYS_WIDTH    16

/* Draws the lines from `first` on; the number of lines that there are. */
static int draw_help(const struct tui *tui, int first)
{
    size_t n_keys;
    const struct key_help *keys = keys_help(&n_keys);
    int width = screen_width(), height = screen_height();
    int n = (int)n_keys + 1 + N_EXPLANATION;
    for (int line = 1; line < height - 1 && first + line - 1 < n; line++) {
        int index = first + line - 1;
        if (index < (int)n_keys) {
            const struct key_help *help = &keys[index];
            if (help->keys)
                screen_put(line, 2, KEYS_WIDTH, STYLE_PLAIN, help->keys);
            screen_put(line, help->keys ? 2 + KEYS_WIDTH : 0, width,
                       help->keys ? STYLE_PLAIN : STYLE_HEAD, help->what);
        } else if (index > (int)n_keys) {
            int at = index - (int)n_keys - 1;
            const char *text = tui->ascii ? explanation_in_ascii[at] : explanation[at];
            screen_put(line, 0, width, *text == ' ' ? STYLE_PLAIN : STYLE_HEAD, text);
        }
    }
    return n;
}

static void draw_frame(void)
{
    int width = screen_width(), height = screen_height();
    screen_fill(0, 0, width, STYLE_BAR);
    screen_put(0, 0, width, STYLE_BAR, " hpcviewer: help");
    screen_fill(height - 1, 0, width, STYLE_BAR);
    screen_put(height - 1, 0, width, STYLE_BAR, " Up, Down, PgUp, PgDn: scroll   q: back");
}

void tui_help(struct tui *tui)
{
    int first = 0;
    for (;;) {
        screen_begin();
        draw_frame();
        int n = draw_help(tui, first);
        screen_end();
        int page = screen_height() - 2, last = n > page ? n - page : 0;
        int key = screen_key();
        switch (keys_command(key)) {
        case COMMAND_UP: first--; break;
        case COMMAND_DOWN: first++; break;
        case COMMAND_PAGE_UP: first -= page; break;
        case COMMAND_PAGE_DOWN: first += page; break;
        case COMMAND_FIRST: first = 0; break;
        case COMMAND_LAST: first = last; break;
        case COMMAND_QUIT:
        case COMMAND_HELP:
        case COMMAND_TOGGLE: return;
        default: break;
        }
        if (key == KEY_GONE || key == KEY_ESCAPE)
            return;
        first = first > last ? last : first;
        first = first < 0 ? 0 : first;
    }
}
