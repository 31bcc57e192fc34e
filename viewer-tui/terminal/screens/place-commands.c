/* Commands that return to visited places, or go to the selected row's scope in another view. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/tree/corresponding-scope.h"

static void forget(place_stack *stack)
{
    while (stack->n)
        path_free(&stack->at[--stack->n].path);
}

void tui_forget_places(struct tui *tui)
{
    forget(&tui->places.back);
    forget(&tui->places.forward);
    vec_free(&tui->places.back);
    vec_free(&tui->places.forward);
}

static struct place here(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    return (struct place){tui->projection, tui->id, path_of(pane->view, pane_row(pane)),
                          view_row(pane->view, pane->root)->depth};
}

void tui_obey(struct tui *tui, const struct command *command)
{
    tui->command = command;
    if (command->flags & MOVE)
        tui->source_scroll = (struct source_scroll){0};
    if (!(command->flags & JUMP)) {
        command->obey(tui);
        return;
    }
    struct place from = here(tui);
    command->obey(tui);
    struct place to = here(tui);
    bool is_same = from.projection == to.projection && from.view == to.view && from.zoomed == to.zoomed &&
                   path_is(&from.path, &to.path);
    path_free(&to.path);
    if (is_same) {
        path_free(&from.path);
    } else {
        forget(&tui->places.forward);
        vec_push(&tui->places.back, from);
    }
}

void tui_select(struct tui *tui, uint32_t row)
{
    pane_select(tui_pane(tui), row);
    if (pane_row(tui_pane(tui)) != row)
        tui_say(tui, "filters hide that row");
}

/* Shows a place that was visited, if the user does not stop that. */
static void show_place(struct tui *tui, const struct place *place)
{
    tui_show_view(tui, place->projection, place->view);
    if (tui->projection != place->projection || tui->id != place->view)
        return;
    struct pane *pane = tui_pane(tui);
    struct path zoomed = place->path; /* the path to the row that is zoomed into */
    size_t found;
    tui_apply_filters(tui);
    zoomed.steps.n = place->zoomed;
    pane_zoom_to(pane, path_find(pane->view, &zoomed, &found));
    uint32_t row = path_find(pane->view, &place->path, &found);
    if (found < place->path.steps.n) {
        pane_select(pane, row);
        tui_say(tui, "that row no longer exists; this is the row above it");
    } else {
        tui_select(tui, row);
    }
}

/* Goes back (argument -1) or forward (1). */
static void go(struct tui *tui)
{
    bool is_back = tui->command->argument < 0;
    place_stack *from = is_back ? &tui->places.back : &tui->places.forward;
    if (from->n) {
        struct place place = from->at[--from->n];
        vec_push(is_back ? &tui->places.forward : &tui->places.back, here(tui));
        show_place(tui, &place);
        path_free(&place.path);
    } else {
        tui_say(tui, is_back ? "no earlier place" : "no later place");
    }
}

/* A view to go to, and its key. */
struct target {
    char key;
    enum view_id view;
    const char *what;
    uint32_t (*find)(struct view *to, const struct view *from, uint32_t row);
};

static uint32_t find_call_site(struct view *to, const struct view *from, uint32_t row)
{
    return to == from ? call_site_row(to, row) : NOTHING;
}

static const struct target targets[] = {
    {'1', TOP_DOWN, "1  top-down: the context with the most cost", corresponding_context},
    {'2', BOTTOM_UP, "2  bottom-up: the procedure, and who calls it", corresponding_procedure},
    {'3', FLAT, "3  flat: its module, file and procedure", corresponding_static_scope},
    {'c', TOP_DOWN, "c  the line from which it is called", find_call_site},
};

#define N_TARGETS (sizeof targets / sizeof *targets)

static void describe(const void *context, size_t index, struct text *out)
{
    const struct target *const *shown = context;
    text_printf(out, "  %s", shown[index]->what);
}

/* The target that the user chose of the other views, and in the top-down view the call; NULL: none. */
static const struct target *ask(struct tui *tui)
{
    const struct target *shown[N_TARGETS];
    size_t n = 0;
    for (size_t i = 0; i < N_TARGETS; i++)
        if (targets[i].find == find_call_site ? tui->id == TOP_DOWN : targets[i].view != tui->id)
            shown[n++] = &targets[i];
    struct list list = {.title = "go to the same scope",
                        .help = " Enter, or its key: go there   q: back",
                        .own_keys = "123c",
                        .scroller = {.n = n},
                        .line = describe,
                        .context = shown};
    for (int key; (key = list_run(tui, &list)) != KEY_GONE;)
        for (size_t i = 0; i < n; i++)
            if (key == shown[i]->key || (key == '\r' && i == list.scroller.selected))
                return shown[i];
    return NULL;
}

static void go_to_same_scope(struct tui *tui)
{
    const struct view *from = tui_pane(tui)->view;
    uint32_t row = pane_row(tui_pane(tui));
    enum view_id before = tui->id;
    const struct target *target =
        tui_is_of_one_run(tui, "going to another view of a scope", false) ? ask(tui) : NULL;
    if (!target)
        return;
    tui_show_view(tui, tui->projection, target->view);
    if (tui->id != target->view)
        return;
    struct view *view = tui_pane(tui)->view;
    tui_apply_filters(tui);
    uint32_t found = target->find(view, from, row);
    if (found != NOTHING) {
        tui_select(tui, found);
    } else {
        tui_show_view(tui, tui->projection, before);
        tui_say(tui, "that view has no such row");
    }
}

const struct family place_family = {
    "Places", COMMANDS({"[", "go back to the row before the last search, zoom, ...", go, -1, 0},
                       {"]", "go forward again", go, 1, 0},
                       {".", "go to the same scope in another view, or to its call", go_to_same_scope, 0, JUMP})};
