/* Printed text on the screen: the threads, the summary. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>
#include <string.h>

/* Draws one line of text as the lines of the page from `number` on, broken where the screen ends;
 * the number of the one behind. */
static int draw_line(const char *text, int number, int first)
{
    int width = screen_width(), height = screen_height();
    do {
        int at = number - first + 1;
        if (at >= 1 && at < height - 1)
            screen_put(at, 0, width, STYLE_PLAIN, text);
        text = text_skip(text, (size_t)(width > 0 ? width : 1));
        number++;
    } while (*text);
    return number;
}

/* Draws the page from its line `first` on; the number of lines. */
static int draw(const void *context, int first)
{
    struct text line = {0};
    int n = 0;
    for (const char *at = context; *at;) {
        size_t length = strcspn(at, "\n");
        text_clear(&line);
        text_add_bytes(&line, at, length);
        n = draw_line(text_string(&line), n, first);
        at += length + (at[length] != '\0');
    }
    vec_free(&line);
    return n;
}

void tui_show_text(const char *title, const char *text)
{
    tui_page(title, draw, text);
}

void tui_report(struct tui *tui, const char *title,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out))
{
    struct print_options options = {.projection = tui->projection, .min_percent = -1};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    tui_announce("adding up ...");
    print(tui->session, &options, out);
    if (fclose(out) == 0)
        tui_show_text(title, text);
    free(text);
}
