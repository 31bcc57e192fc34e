/* Showing the sums over some of the threads only. */
#include "viewer-tui/terminal/tui.h"

#include <stdlib.h>

/* The rows from below the whole program down to one: what to look for when views are made anew. */
struct path {
    VEC(struct row) rows; /* from the innermost outwards */
};

static void remember(const struct view *view, uint32_t row, struct path *path)
{
    for (; row != 0; row = view_row(view, row)->parent)
        vec_push(&path->rows, *view_row(view, row));
}

static bool are_same(const struct row *a, const struct row *b)
{
    return a->kind == b->kind && a->place == b->place && a->line == b->line &&
           a->call_file == b->call_file && a->call_line == b->call_line;
}

/* The row at the end of the path, or of as much of it as there is. */
static uint32_t find(struct view *view, const struct path *path)
{
    uint32_t row = 0;
    view_start_walk(view);
    for (size_t left = path->rows.n; left > 0; left--) {
        view_expand(view, row);
        uint32_t i = 0, n = view_row(view, row)->n_children;
        while (i < n &&
               !are_same(view_row(view, view_child(view, row, i)), &path->rows.at[left - 1]))
            i++;
        if (i == n)
            break;
        row = view_child(view, row, i);
    }
    return row;
}

static void close_panes(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++)
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
}

static void say_which(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    if (!set) {
        text_add(&tui->message, "all threads");
        return;
    }
    text_printf(&tui->message, "%zu of %zu threads: ", set->n, set->of);
    text_add_clean(&tui->message, set->what, tui->ascii);
    text_add(&tui->message, "  (| and an empty line: all of them)");
}

void tui_restrict(struct tui *tui, struct thread_set *set)
{
    struct path path = {0};
    struct sorting sorting = tui_pane(tui)->view->sorting;
    remember(tui_pane(tui)->view, pane_row(tui_pane(tui)), &path);
    if (session_restrict(tui->session, tui->projection, set)) {
        close_panes(tui);
        tui_reopen(tui, sorting);
        pane_select(tui_pane(tui), find(tui_pane(tui)->view, &path));
        say_which(tui);
    } else if (tui->session->was_stopped) {
        text_add(&tui->message, "stopped");
    }
    vec_free(&path.rows);
}

/* Asks for the expression; an empty one is for all threads. */
static void ask(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    const char *answer = tui_ask(tui, "threads: ", set ? set->what : "", NULL);
    if (!answer)
        return;
    char *cause = NULL;
    struct thread_set *wanted = NULL;
    if (*answer)
        wanted = session_matching_threads(tui->session, tui->projection, answer, &cause);
    if (!*answer || wanted)
        tui_restrict(tui, wanted);
    text_add_clean(&tui->message, cause ? cause : "", tui->ascii);
    free(cause);
}

bool tui_obey_threads(struct tui *tui, enum command command)
{
    if ((command == COMMAND_THREADS || command == COMMAND_RESTRICT) &&
        !tui_is_of_one_run(tui, "threads"))
        return true;
    switch (command) {
    case COMMAND_THREADS: tui_threads(tui); break;
    case COMMAND_RESTRICT: ask(tui); break;
    default: return false;
    }
    return true;
}
