/* Commands that return to visited or marked places. */
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
    case COMMAND_GO_TO_MARK:
    case COMMAND_LIST_MARKS:
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

/* Columns of the letter before the description of a mark. */
#define MARK_COLUMNS 4

static bool is_letter(int key)
{
    return key < 0x80 && isalpha(key);
}

/* "top-down   main > f"; the caller frees. */
static char *describe_here(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    struct text what = {0};
    text_printf(&what, "%-10s ", pane->view->class->name);
    if (tui->projection == PHYSICAL)
        text_add(&what, "(physical) ");
    int room = screen_width() - (int)what.n - MARK_COLUMNS;
    tui_add_path(tui, pane_row(pane), &what, room > 0 ? (size_t)room : 0);
    return what.at;
}

static bool gives_up(int key)
{
    return key == KEY_GONE || key == KEY_ESCAPE || keys_command(key) == COMMAND_QUIT;
}

static void mark(struct tui *tui)
{
    int key = tui_ask_key(tui, "mark this row with a letter: ");
    if (is_letter(key))
        places_mark(&tui->places, (char)key, here(tui), describe_here(tui));
    else if (!gives_up(key))
        text_add(&tui->message, "marks are letters");
}

static void go_to_mark(struct tui *tui)
{
    int key = tui_ask_key(tui, "go to the mark with the letter: ");
    const struct mark *marked = is_letter(key) ? places_marked(&tui->places, (char)key) : NULL;
    if (marked)
        go_to(tui, &marked->place);
    else if (!gives_up(key))
        text_add(&tui->message, "no row has that mark; m sets one, M lists them");
}

static void describe(const void *context, size_t index, struct text *out)
{
    const struct tui *tui = context;
    const struct mark *marked = &tui->places.marks.at[index];
    text_printf(out, " %c  %s", marked->letter, marked->what);
}

static void list_marks(struct tui *tui)
{
    struct list list = {.title = "marks",
                        .help = " Enter: go there   d: delete   q: back",
                        .empty = "  No marks: m and a letter mark the selected row.",
                        .line = describe,
                        .context = tui};
    int key;
    do {
        list.n = tui->places.marks.n;
        key = list_run(&list);
        if (key == 'd' && list.n) {
            places_unmark(&tui->places, list.selected);
        } else if (keys_command(key) == COMMAND_TOGGLE && list.n) {
            go_to(tui, &tui->places.marks.at[list.selected].place);
            return;
        }
    } while (!tui_closes(tui, key, COMMAND_LIST_MARKS));
}

bool tui_obey_places(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_BACK: go(tui, places_back(&tui->places, here(tui)), "no earlier place"); break;
    case COMMAND_FORWARD: go(tui, places_forward(&tui->places, here(tui)), "no later place"); break;
    case COMMAND_MARK: mark(tui); break;
    case COMMAND_GO_TO_MARK: go_to_mark(tui); break;
    case COMMAND_LIST_MARKS: list_marks(tui); break;
    case COMMAND_SAME_SCOPE: tui_same_scope(tui); break;
    default: return false;
    }
    return true;
}
