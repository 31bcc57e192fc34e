/* Commands that return to visited places. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <ctype.h>
#include <stdlib.h>

static struct place here(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    return (struct place){tui->projection, tui->id, path_of(pane->view, pane_row(pane)),
                          view_row(pane->view, pane->root)->depth};
}

/* Whether the user may want to go back after a command. */
static bool is_jump(enum command command)
{
    switch (command) {
    case COMMAND_FIND:
    case COMMAND_FIND_NEXT:
    case COMMAND_FIND_PREVIOUS:
    case COMMAND_FIRST:
    case COMMAND_LAST:
    case COMMAND_HOT_PATH:
    case COMMAND_ZOOM_IN:
    case COMMAND_ZOOM_OUT:
    case COMMAND_TOP_DOWN:
    case COMMAND_BOTTOM_UP:
    case COMMAND_FLAT:
    case COMMAND_NEXT_VIEW:
    case COMMAND_PREVIOUS_VIEW:
    case COMMAND_PROJECTION:
    case COMMAND_OWN_CALL:
    case COMMAND_SAME_SCOPE: return true;
    default: return false;
    }
}

void tui_obey_and_remember(struct tui *tui, enum command command,
                           void (*obey)(struct tui *tui, enum command command))
{
    if (!is_jump(command)) {
        obey(tui, command);
        return;
    }
    struct place before = here(tui);
    obey(tui, command);
    struct place after = here(tui);
    if (place_is(&before, &after))
        place_free(&before);
    else
        places_leave(&tui->places, before);
    place_free(&after);
}

/* Zooms into the row that is `steps` steps down the path. */
static void zoom(struct pane *pane, const struct path *path, size_t steps)
{
    struct path start = *path;
    size_t found;
    start.steps.n = steps;
    pane_zoom_to(pane, path_find(pane->view, &start, &found));
}

static void go_to(struct tui *tui, const struct place *place)
{
    tui_show_view(tui, place->projection, place->view);
    if (tui->projection != place->projection || tui->id != place->view)
        return;
    struct pane *pane = tui_pane(tui);
    size_t found;
    tui_apply_filters(tui);
    zoom(pane, &place->path, place->zoomed);
    uint32_t row = path_find(pane->view, &place->path, &found);
    pane_select(pane, row);
    if (found < place->path.steps.n)
        text_add(&tui->message, "that row no longer exists; this is the row above it");
    else if (pane_row(pane) != row)
        text_add(&tui->message, "filters hide that row");
}

static void go(struct tui *tui, const struct place *place, const char *otherwise)
{
    if (place)
        go_to(tui, place);
    else
        text_add(&tui->message, otherwise);
}

bool tui_obey_places(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_BACK: go(tui, places_back(&tui->places, here(tui)), "no earlier place"); break;
    case COMMAND_FORWARD: go(tui, places_forward(&tui->places, here(tui)), "no later place"); break;
    case COMMAND_SAME_SCOPE: tui_same_scope(tui); break;
    default: return false;
    }
    return true;
}
