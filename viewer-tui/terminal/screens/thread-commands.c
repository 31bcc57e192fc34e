/* Commands for threads, programs and inlined code: views over a part of the data. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

#include <stdlib.h>
#include <string.h>

static void close_panes(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++)
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
}

static void say_which(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    text_clear(&tui->message); /* from applying the filters */
    if (!set) {
        text_add(&tui->message, "all threads");
        return;
    }
    text_printf(&tui->message, "%zu of %zu threads: ", set->n, set->of);
    text_add_clean(&tui->message, set->what, tui->ascii);
    text_add(&tui->message, set->is_program ? "  (P: another program; q: all)" : "  (q: all threads)");
}

/* Restricts all values to a set of threads (NULL: all) and takes ownership of it. */
static void restrict_to(struct tui *tui, struct thread_set *set)
{
    struct path path = path_of(tui_pane(tui)->view, pane_row(tui_pane(tui)));
    struct sorting sorting = tui_pane(tui)->view->sorting;
    size_t found;
    enum outcome outcome = session_restrict(tui->session, tui->projection, set);
    if (outcome == DONE) {
        close_panes(tui);
        tui_reopen(tui, sorting);
        pane_select(tui_pane(tui), path_find(tui_pane(tui)->view, &path, &found));
        tui->restricted_by = set ? tui->command : COMMAND_NONE;
        say_which(tui);
    } else if (outcome == STOPPED) {
        text_add(&tui->message, "stopped");
    }
    path_free(&path);
}

bool tui_leave_restriction(struct tui *tui)
{
    enum command by = tui->restricted_by;
    if (by == COMMAND_NONE)
        return false;
    restrict_to(tui, NULL);
    if (tui->restricted_by == COMMAND_NONE && by != COMMAND_RESTRICT)
        tui->next = by;
    return true;
}

/* Asks for a regular expression for threads; an empty one means all. */
static void ask(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    const char *answer = tui_ask(tui, "threads: ", set && !set->is_program ? set->what : "", NULL);
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

/* Folds contexts, or shows them. The selected row, or the one around it, stays selected. */
static void fold(struct tui *tui, struct fold_choice folds, const char *message)
{
    struct pane *pane = tui_pane(tui);
    struct path path = path_of(pane->view, pane_row(pane));
    struct sorting sorting = pane->view->sorting;
    size_t found;
    close_panes(tui);
    session_fold(tui->session, folds);
    tui_reopen(tui, sorting);
    pane_select(pane, path_find(pane->view, &path, &found));
    text_clear(&tui->message);
    text_add(&tui->message, message);
    path_free(&path);
}

/* Switches the folding of inlined code or of recursion. */
static void switch_folding(struct tui *tui, enum command command)
{
    struct fold_choice folds = tui->session->folds;
    if (command == COMMAND_FOLD_INLINED) {
        folds.inlined = !folds.inlined;
        fold(tui, folds,
             folds.inlined ? "inlined code is counted in the procedure that contains it"
                           : "inlined code is shown");
    } else {
        folds.recursion = !folds.recursion;
        fold(tui, folds,
             folds.recursion ? "recursive calls are counted in the outermost call of the procedure"
                             : "recursive calls are shown");
    }
}

static void show_threads(struct tui *tui)
{
    if (session_has_losses(tui->session) && !tui_is_of_one_run(tui, "the view of threads"))
        return;
    struct thread_set *wanted = tui_threads(tui);
    if (wanted)
        restrict_to(tui, wanted);
}

/* The programs of the run; the first line of the list is "all programs". */
struct menu {
    const struct tui *tui;
    program_names names;
};

/* Number of processes that ran a program. */
static size_t count_processes(const json_t *run, const char *program)
{
    size_t i, n = 0;
    json_t *process;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        n += strcmp(run_program_of(process), program) == 0;
    }
    return n;
}

static void add_program(const void *context, size_t index, struct text *out)
{
    const struct menu *menu = context;
    text_add(out, "  ");
    if (index == 0) {
        text_add(out, "all programs");
        return;
    }
    const char *name = menu->names.at[index - 1];
    size_t n = count_processes(menu->tui->session->run, name);
    text_add_clean(out, name, menu->tui->ascii);
    text_printf(out, "  (%zu process%s)", n, n == 1 ? "" : "es");
}

/* The program of the selected row, or the one that the views are restricted to; NULL: all. */
static const char *current_program(struct tui *tui)
{
    const struct view *view = tui_pane(tui)->view;
    const struct thread_set *set = tui->session->threads;
    for (uint32_t row = pane_row(tui_pane(tui)); row; row = view_row(view, row)->parent)
        if (view_row(view, row)->kind == KIND_PROGRAM)
            return database_program_name(view->db, view_row(view, row)->place);
    return set && set->is_program ? set->what : NULL;
}

/* Index of the line that the user chose; number of lines: none. */
static size_t choose_program(struct tui *tui, struct menu *menu, const char *current)
{
    struct list list = {.title = "programs",
                        .help = " Enter: only this program   q: back",
                        .n = menu->names.n + 1,
                        .line = add_program,
                        .context = menu};
    for (size_t i = 0; current && i < menu->names.n; i++)
        if (strcmp(menu->names.at[i], current) == 0)
            list.selected = i + 1;
    int key;
    do {
        key = list_run(&list);
        if (keys_command(key) == COMMAND_TOGGLE)
            return list.selected;
    } while (!tui_closes(tui, key, COMMAND_PROGRAM));
    return list.n;
}

static void restrict_to_program(struct tui *tui)
{
    struct menu menu = {.tui = tui, .names = run_programs(tui->session->run)};
    if (menu.names.n < 2) {
        text_add(&tui->message, "this database has one program");
        vec_free(&menu.names);
        return;
    }
    size_t chosen = choose_program(tui, &menu, current_program(tui));
    char *cause = NULL;
    struct thread_set *set = NULL;
    if (chosen > 0 && chosen <= menu.names.n)
        set = session_threads_of_program(tui->session, tui->projection, menu.names.at[chosen - 1],
                                         &cause);
    if (chosen == 0 || set)
        restrict_to(tui, set);
    text_add_clean(&tui->message, cause ? cause : "", tui->ascii);
    free(cause);
    vec_free(&menu.names);
}

bool tui_obey_threads(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_THREADS: show_threads(tui); break;
    case COMMAND_RESTRICT:
        if (tui_is_of_one_run(tui, "choosing threads"))
            ask(tui);
        break;
    case COMMAND_FOLD_INLINED:
    case COMMAND_FOLD_RECURSION: switch_folding(tui, command); break;
    case COMMAND_PROGRAM:
        if (tui_is_of_one_run(tui, "choosing a program"))
            restrict_to_program(tui);
        break;
    default: return false;
    }
    return true;
}
