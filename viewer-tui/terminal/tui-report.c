/* Printed text on the screen: the threads, the summary. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>

void tui_report(struct tui *tui, const char *title,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out))
{
    struct print_options options = {
        .projection = tui->projection, .min_percent = -1, .width = (size_t)screen_width()};
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
