/* Showing the sums over some of the threads only. */
#include "viewer-tui/terminal/tui.h"

#include <stdlib.h>

static void close_panes(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++)
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
}

static void say_which(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    text_clear(&tui->message); /* of what filters leave */
    if (!set) {
        text_add(&tui->message, "all threads");
        return;
    }
    text_printf(&tui->message, "%zu of %zu threads: ", set->n, set->of);
    text_add_clean(&tui->message, set->what, tui->ascii);
    text_add(&tui->message, "  (| and an empty line: all of them)");
}

/* Shows the sums over these threads, NULL for all, from now on; takes ownership of the set. */
static void restrict_to(struct tui *tui, struct thread_set *set)
{
    struct path path = path_of(tui_pane(tui)->view, pane_row(tui_pane(tui)));
    struct sorting sorting = tui_pane(tui)->view->sorting;
    size_t found;
    if (session_restrict(tui->session, tui->projection, set)) {
        close_panes(tui);
        tui_reopen(tui, sorting);
        pane_select(tui_pane(tui), path_find(tui_pane(tui)->view, &path, &found));
        say_which(tui);
    } else if (tui->session->was_stopped) {
        text_add(&tui->message, "stopped");
    }
    path_free(&path);
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
        restrict_to(tui, wanted);
    text_add_clean(&tui->message, cause ? cause : "", tui->ascii);
    free(cause);
}

static void show_threads(struct tui *tui)
{
    if (session_is_of_two(tui->session)) {
        tui_both_threads(tui);
        return;
    }
    struct thread_set *wanted = tui_threads(tui);
    if (wanted)
        restrict_to(tui, wanted);
}

bool tui_obey_threads(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_THREADS: show_threads(tui); break;
    case COMMAND_RESTRICT:
        if (tui_is_of_one_run(tui, "choosing threads"))
            ask(tui);
        break;
    default: return false;
    }
    return true;
}
