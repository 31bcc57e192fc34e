/* A page about the selected row. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/output/inspect.h"

#include <stdlib.h>

void tui_inspect(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    struct text text = {0};
    inspect_row(pane->view, pane_row(pane), tui->session->run,
                tui->projection == PHYSICAL, tui->ascii, &text);
    tui_show_text("all of one row", text_string(&text));
    vec_free(&text);
}
