/* Commands that show another view or a page, or views over a part of the data: threads, programs, folded code. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/db/run.h"

#include <string.h>

/* A new pane is sorted by the metric of the current one. */
void tui_show_view(struct tui *tui, enum projection projection, enum view_id id)
{
    struct pane *pane = &tui->panes[projection][id];
    if (!pane->view) {
        const struct view *now = tui_pane(tui)->view;
        struct view *view = session_view(tui->session, projection, id);
        if (view) {
            struct sorting sorting = view->sorting;
            size_t metric = metrics_find(view->metrics, now->metrics->at[now->sorting.metric].name);
            sorting.metric = metric < view->metrics->n ? metric : sorting.metric;
            view_sort(view, sorting);
            pane_open(pane, view, tui->filters);
            if (!view_row(view, 0)->is_expanded)
                pane_close(pane);
        }
        if (!pane->view) {
            if (view || tui->session->outcome == STOPPED)
                tui_say(tui, "stopped");
            return;
        }
    }
    tui_take_kept_columns(tui, projection, pane->view);
    pane_sort_by_shown(pane);
    tui->projection = projection;
    tui->id = id;
}

bool tui_is_of_one_run(struct tui *tui, const char *what, bool or_comparison)
{
    bool compares = session_is_comparison(tui->session), is = compares ? or_comparison : !session_is_merged(tui->session);
    if (!is)
        tui_say(tui, compares ? "%s works with one database, not with a comparison"
                              : "%s works with one run; Enter in the table of the set opens one", what);
    return is;
}

static void show_view(struct tui *tui)
{
    tui_show_view(tui, tui->projection, (enum view_id)tui->command->argument);
}

static void show_neighbor(struct tui *tui)
{
    int id = ((int)tui->id + tui->command->argument + VIEWS) % VIEWS;
    tui_show_view(tui, tui->projection, (enum view_id)id);
}

static void show_other_projection(struct tui *tui)
{
    enum projection other = tui->projection == LOGICAL ? PHYSICAL : LOGICAL;
    if (session_has_projection(tui->session, other))
        tui_show_view(tui, other, tui->id);
    else
        tui_say(tui, "this database has no %s projection", projection_name(other));
}

/* Shows a printed page as text. */
static void show_report(struct tui *tui)
{
    enum printed page = (enum printed)tui->command->argument;
    autofree char *what = mem_printf("the %s", printed_pages[page].word);
    if (tui_is_of_one_run(tui, what, !printed_pages[page].alone))
        tui_report(tui, page, tui->command);
}

/* ---- views over a part of the data ---- */

/* What the values of all views are restricted to, or which contexts are folded. */
struct value_change {
    enum { RESTRICT_TIME, RESTRICT_THREADS, FOLD } what;
    const struct time_range *range; /* NULL: the whole run */
    struct thread_set *threads;     /* NULL: all; the session takes it */
    struct fold_choice folds;
};

void tui_close_panes(struct tui *tui)
{
    for (int p = 0; p < PROJECTIONS; p++)
        for (int v = 0; v < VIEWS; v++)
            pane_close(&tui->panes[p][v]);
}

/* Changes the values, and makes the current view again; the top-down view if the user stops that. The selected row, or
 * the one around it, stays selected. False if the user stopped the change. */
static bool change_values(struct tui *tui, struct value_change change)
{
    const struct view *before = tui_pane(tui)->view;
    struct sorting sorting = before->sorting;
    struct path path = path_of(before, pane_row(tui_pane(tui)));
    autofree char *metric = mem_strdup(before->metrics->at[sorting.metric].name); /* indices may change */
    enum outcome outcome = DONE;
    size_t found;
    if (change.what == RESTRICT_TIME)
        outcome = session_set_range(tui->session, tui->projection, change.range, NULL);
    else if (change.what == RESTRICT_THREADS)
        outcome = session_restrict(tui->session, tui->projection, change.threads);
    else
        session_fold(tui->session, change.folds);
    if (outcome == DONE) {
        tui_close_panes(tui);
        struct view *view = session_view(tui->session, tui->projection, tui->id);
        if (!view) {
            tui->id = TOP_DOWN;
            view = session_view(tui->session, tui->projection, tui->id);
        }
        sorting.metric = metrics_find(view->metrics, metric);
        if (sorting.metric < view->metrics->n && metric_is_measured(&view->metrics->at[sorting.metric]))
            view_sort(view, sorting);
        tui->knows_headline = !tui->has_headline;
        pane_open(tui_pane(tui), view, tui->filters);
        tui_apply_filters(tui);
        pane_select(tui_pane(tui), path_find(view, &path, &found));
        text_clear(&tui->message); /* from applying the filters */
    } else if (outcome == STOPPED) {
        tui_say(tui, "stopped");
    }
    path_free(&path);
    return outcome == DONE;
}

bool tui_restrict_time(struct tui *tui, const struct time_range *range)
{
    if (!change_values(tui, (struct value_change){RESTRICT_TIME, .range = range}))
        return false;
    tui->ranged_by = range ? tui->command : NULL;
    if (range)
        session_describe_restriction(tui->session, "", tui->ascii, &tui->message);
    tui_say(tui, "%s", range ? ": in all views, the summary and the advice  (q: the whole run)" : "the whole run");
    return true;
}

/* Restricts all values to a set of threads (NULL: all) and takes ownership of it. */
static void restrict_to(struct tui *tui, struct thread_set *set)
{
    if (!change_values(tui, (struct value_change){RESTRICT_THREADS, .threads = set}))
        return;
    tui->restricted_by = set ? tui->command : NULL;
    if (set)
        tui_say(tui, "%zu of %zu threads: %s%s", set->n, set->of, set->what,
                set->is_program ? "  (P: another program; q: all)" : "  (q: all threads)");
    else
        tui_say(tui, "all threads");
}

/* Restricts all values to the threads that `choose` finds for a text; "": all. */
static void choose_threads(struct tui *tui, thread_chooser *choose, const char *text)
{
    autofree char *cause = NULL;
    struct thread_set *set = *text ? session_choose_threads(tui->session, tui->projection, choose, text, &cause) : NULL;
    if (!*text || set)
        restrict_to(tui, set);
    tui_say(tui, "%s", cause ? cause : "");
}

/* Asks for a regular expression for threads; an empty one means all. */
static void ask_threads(struct tui *tui)
{
    const struct thread_set *set = tui->session->threads;
    if (!tui_is_of_one_run(tui, "choosing threads", false))
        return;
    const char *answer = tui_ask(tui, "threads: ", set && !set->is_program ? set->what : "", NULL);
    if (answer)
        choose_threads(tui, thread_set_matching, answer);
}

bool tui_leave_restriction(struct tui *tui)
{
    const struct command *by = tui->restricted_by;
    if (tui->ranged_by) {
        by = tui->ranged_by;
        if (tui_restrict_time(tui, NULL))
            tui->next = by;
        return true;
    }
    if (!by)
        return false;
    restrict_to(tui, NULL);
    if (!tui->restricted_by && by->obey != ask_threads)
        tui->next = by;
    return true;
}

static void show_threads(struct tui *tui)
{
    struct thread_set *wanted = tui_is_of_one_run(tui, "the view of threads", true) ? tui_threads(tui) : NULL;
    if (wanted)
        restrict_to(tui, wanted);
}

enum foldable { INLINED_CODE, RECURSION, KERNEL };

/* Folds inlined code, recursion or the kernel, or shows it. */
static void switch_folding(struct tui *tui)
{
    static const char *const messages[][2] = {
        [INLINED_CODE] = {"inlined code is shown", "inlined code is counted in the procedure that contains it"},
        [RECURSION] = {"recursive calls are shown",
                       "recursive calls are counted in the outermost call of the procedure"},
        [KERNEL] = {"the kernel's procedures are shown", "the kernel is counted in the line that called it"},
    };
    enum foldable what = (enum foldable)tui->command->argument;
    struct fold_choice folds = tui->session->folds;
    bool *folded = what == RECURSION ? &folds.recursion : what == KERNEL ? &folds.kernel : &folds.inlined;
    *folded = !*folded;
    change_values(tui, (struct value_change){FOLD, .folds = folds});
    tui_say(tui, "%s", messages[what][*folded]);
}

/* The programs of the run; the first line of the list is "all programs". */
struct programs {
    const struct tui *tui;
    program_names names;
};

static void add_program(const void *context, size_t index, struct text *out)
{
    const struct programs *programs = context;
    const struct tui *tui = programs->tui;
    size_t n = 0;
    if (index == 0) {
        text_add(out, "  all programs");
        return;
    }
    const char *name = programs->names.at[index - 1];
    json_each (process, json_object_get(tui->session->run, "processes"))
        n += strcmp(run_program_of(process), name) == 0;
    text_say(out, tui->ascii, "  %s  (%zu process%s)", name, n, n == 1 ? "" : "es");
}

/* Lets the user choose a program, at first that of the selected row, or the one that the views are restricted to. */
static void choose_program(struct tui *tui)
{
    if (!tui_is_of_one_run(tui, "choosing a program", false))
        return;
    struct programs programs = {.tui = tui, .names = run_programs(tui->session->run)};
    struct list list = {.title = "programs",
                        .help = " Enter: only this program   q: back",
                        .scroller = {.n = programs.names.n + 1},
                        .line = add_program,
                        .context = &programs};
    const struct view *view = tui_pane(tui)->view;
    const struct thread_set *set = tui->session->threads;
    const char *current = set && set->is_program ? set->what : NULL;
    for (uint32_t row = pane_row(tui_pane(tui)); row; row = view_row(view, row)->parent)
        if (view_row(view, row)->kind == KIND_PROGRAM)
            current = database_program_name(view->db, view_row(view, row)->place);
    for (size_t i = 0; current && i < programs.names.n; i++)
        if (strcmp(programs.names.at[i], current) == 0)
            list.scroller.selected = i + 1;
    if (programs.names.n < 2)
        tui_say(tui, "this database has one program");
    else if (list_run(tui, &list) == '\r')
        choose_threads(tui, thread_set_of_program,
                       list.scroller.selected ? programs.names.at[list.scroller.selected - 1] : "");
    vec_free(&programs.names);
}

const struct family view_family = {
    "Views",
    COMMANDS({"1", "top-down: calling contexts", show_view, TOP_DOWN, JUMP | PAGE},
             {"2", "bottom-up: procedures and their callers", show_view, BOTTOM_UP, JUMP | PAGE},
             {"3", "flat: modules, files, procedures, loops, statements", show_view, FLAT, JUMP | PAGE},
             {"4", "threads: cost of the row in each; bars, table", show_threads, 0, PAGE},
             {"5", "summary: processes, samples, advice, problems", show_report, PRINT_SUMMARY, PAGE},
             {"6", "time line: what each thread did when", tui_show_time, false, PAGE | JUMP},
             {"t", "time line of the row: when its code ran, with what it calls", tui_show_time, true, JUMP},
             {"Tab", "next view", show_neighbor, 1, JUMP},
             {"Shift-Tab", "previous view", show_neighbor, -1, JUMP},
             {"p", "switch between calls as written (logical) and as executed (physical)", show_other_projection, 0,
              JUMP},
             {"|", "show only threads that match a regular expression; empty: all", ask_threads, 0, 0},
             {"P", "show only one of several programs (make, cc1, ...), or all", choose_program, 0, 0},
             {"I", "fold inlined code into the procedures that contain it, or show it (S in C saves that)",
              switch_folding, INLINED_CODE, 0},
             {"R", "collapse recursion: a recursive call counts in the outermost call of the procedure", switch_folding,
              RECURSION, 0},
             {"O", "show the kernel's procedures, or count them in the line that called the kernel", switch_folding,
              KERNEL, 0})};
