/* Commands that find rows by text. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/views/search.h"

#include <stdlib.h>

static void find_again(struct tui *tui, bool backwards)
{
    struct pane *pane = tui_pane(tui);
    if (!tui->wanted) {
        text_add(&tui->message, "nothing to find yet: press /");
        return;
    }
    tui_announce("searching ... (Esc stops)");
    struct search search = {.view = pane->view,
                            .root = pane->root,
                            .text = tui->wanted,
                            .backwards = backwards,
                            .is_cancelled = screen_escape_pressed};
    uint32_t row = search_next(&search, pane_row(pane));
    if (row != NOTHING)
        pane_select(pane, row);
    if (row != NOTHING && search.has_wrapped)
        text_add(&tui->message, "went on at the other end");
    if (row == NOTHING) {
        text_add(&tui->message, search.was_cancelled ? "not found yet: " : "not found: ");
        text_add_clean(&tui->message, tui->wanted, tui->ascii);
    }
}

/* Asks what to find; without an answer it is what was searched for last. */
static void find(struct tui *tui)
{
    const char *answer = tui_ask(tui, "/", "", NULL);
    if (!answer)
        return;
    if (*answer) {
        free(tui->wanted);
        tui->wanted = mem_strdup(answer);
    }
    find_again(tui, false);
}

bool tui_obey_finding(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_FIND: find(tui); break;
    case COMMAND_FIND_NEXT: find_again(tui, false); break;
    case COMMAND_FIND_PREVIOUS: find_again(tui, true); break;
    default: return false;
    }
    return true;
}
