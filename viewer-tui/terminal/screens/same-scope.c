/* The command that goes to the selected row's scope in another view. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/corresponding-scope.h"
#include "viewer-tui/tree/labels.h"

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

/* The targets from a view: the other views, and in the top-down view the call. */
struct menu {
    const struct target *targets[N_TARGETS];
    size_t n;
};

static struct menu menu_for(enum view_id id)
{
    struct menu menu = {.n = 0};
    for (size_t i = 0; i < N_TARGETS; i++) {
        bool is_call_site = targets[i].find == find_call_site;
        if (is_call_site ? id == TOP_DOWN : targets[i].view != id)
            menu.targets[menu.n++] = &targets[i];
    }
    return menu;
}

static void describe(const void *context, size_t index, struct text *out)
{
    const struct menu *menu = context;
    text_printf(out, "  %s", menu->targets[index]->what);
}

/* The target that the user chose; NULL: none. */
static const struct target *ask(struct tui *tui, const struct menu *menu)
{
    struct list list = {.title = "go to the same scope",
                        .help = " Enter, or its key: go there   q: back",
                        .n = menu->n,
                        .line = describe,
                        .context = menu};
    int key;
    do {
        key = list_run(&list);
        if (keys_command(key) == COMMAND_TOGGLE)
            return menu->targets[list.selected];
        for (size_t i = 0; i < menu->n; i++)
            if (menu->targets[i]->key == key)
                return menu->targets[i];
    } while (!tui_closes(tui, key, COMMAND_SAME_SCOPE));
    return NULL;
}

static void go_to(struct tui *tui, const struct target *target)
{
    const struct view *from = tui_pane(tui)->view;
    uint32_t row = pane_row(tui_pane(tui));
    enum view_id before = tui->id;
    tui_show_view(tui, tui->projection, target->view);
    if (tui->id != target->view)
        return;
    struct pane *pane = tui_pane(tui);
    tui_apply_filters(tui);
    uint32_t found = target->find(pane->view, from, row);
    if (found == NOTHING) {
        tui_show_view(tui, tui->projection, before);
        text_add(&tui->message, "that view has no such row");
        return;
    }
    pane_select(pane, found);
    if (pane_row(pane) != found)
        text_add(&tui->message, "filters hide that row");
}

void tui_same_scope(struct tui *tui)
{
    if (!tui_is_of_one_run(tui, "going to another view of a scope"))
        return;
    struct menu menu = menu_for(tui->id);
    const struct target *target = ask(tui, &menu);
    if (target)
        go_to(tui, target);
}
