#include "viewer-tui/show-set.h"

#include "lib/diag.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/output/print-scaling.h"
#include "viewer-tui/run-hpcprof.h"
#include "viewer-tui/terminal/screens/scaling-screen.h"

#include <math.h>
#include <stdlib.h>

bool options_name_set(const struct options *options)
{
    if (options->printed != PRINT_NOTHING && printed_pages[options->printed].is_of_set)
        return true;
    bool is_one = options->paths[0] && !options->paths[1];
    return options->printed == PRINT_NOTHING && is_one && run_set_exists(options->paths[0]);
}

/* Reads the index; the caller frees the set. False, with the error reported, if that failed. */
static bool read_index(const char *folder, struct run_set *set)
{
    autofree char *cause = NULL;
    bool is_read = run_set_read(set, folder, &cause);
    if (!is_read)
        diag_error(folder, "not a set of runs, which hpcrun --workers makes: %s", cause);
    return is_read;
}

/* The total of a metric (metrics_find_measured); NAN: it was not measured. */
static double total(const struct view *view, const char *name)
{
    size_t found = metrics_find_measured(view->metrics, name);
    return found < view->metrics->n ? view_total(view, found) : NAN;
}

static void read_database(const char *folder, struct run_values *values)
{
    struct session *session = session_open(folder, NULL);
    struct view *view = session ? session_view(session, LOGICAL, TOP_DOWN) : NULL;
    if (view)
        values->has_work_span = work_span_of(view, &values->work_span);
    const char *why = values->work_span.why_lower_bound;
    if (why) /* the session has the text */
        values->work_span.why_lower_bound = mem_strdup(why);
    if (view && isfinite(values->wall)) {
        values->work = total(view, "work");
        values->overhead = total(view, "overhead");
        values->idleness = total(view, "idleness");
        values->cpus = run_most_cpus(session->run);
    }
    if (session)
        session_close(session);
}

/* Times of the runs that ended with status 0 from the index of their set, costs from their databases, which hpcprof
 * makes if there are none beside them. A run whose database cannot be had only has its time; that is reported. */
static run_value_list read_values(const char *folder, const struct run_set *set)
{
    run_value_list list = {0};
    diag_progress_begin("reading runs", set->runs.n);
    for (size_t i = 0; i < set->runs.n; i++) {
        const struct set_run *run = &set->runs.at[i];
        struct run_values values = {.workers = run->workers,
                                    .wall = run->repeat == WORK_SPAN_REPEAT ? NAN : run->wall,
                                    .work = NAN,
                                    .overhead = NAN,
                                    .idleness = NAN};
        diag_progress_add(1);
        if (run->status)
            continue;
        autofree char *database = run->workers ? database_of_set_run(folder, run) : NULL;
        if (database)
            read_database(database, &values);
        vec_push(&list, values);
    }
    diag_progress_end();
    return list;
}

/* Reads a set and its table; the caller frees both. False, with the error reported, if there is nothing to show. */
static bool read_set(const char *folder, struct run_set *set, struct scaling_table *table)
{
    if (!read_index(folder, set))
        return false;
    run_value_list values = read_values(folder, set);
    *table = scaling_table_of(&values);
    run_values_free(&values);
    if (table->rows.n == 0)
        diag_error(folder, "no run of the set has ended with status 0");
    return table->rows.n > 0;
}

int print_set(const struct options *options, FILE *out)
{
    struct run_set set = {0};
    struct scaling_table table = {0};
    if (read_set(options->paths[0], &set, &table))
        print_scaling(&set, &table, options->print.format, out);
    scaling_table_free(&table);
    run_set_free(&set);
    return diag_error_count() ? 1 : 0;
}

/* ---- losses ---- */

/* The most workers first, then in the order of the set. */
static int by_workers(const void *left, const void *right)
{
    const struct set_run *a = *(const struct set_run *const *)left, *b = *(const struct set_run *const *)right;
    return a->workers != b->workers ? (a->workers < b->workers ? 1 : -1) : (a > b) - (a < b);
}

/* The losses of all runs that ended with status 0 and have a database; NULL: there is none. */
static struct session *open_losses(const char *folder, const struct run_set *set)
{
    const struct set_run **runs = mem_alloc((set->runs.n + 1) * sizeof *runs);
    struct session *session = session_new(NULL);
    for (size_t i = 0; i < set->runs.n; i++)
        runs[i] = &set->runs.at[i];
    qsort(runs, set->runs.n, sizeof *runs, by_workers);
    for (size_t i = 0; i < set->runs.n; i++) {
        if (!set_run_counts(runs[i]))
            continue;
        const struct session_run *last = session->runs.n ? &session->runs.at[session->runs.n - 1] : NULL;
        size_t group = !last ? 0 : last->group + (last->workers != runs[i]->workers);
        autofree char *database = database_of_set_run(folder, runs[i]);
        if (database) {
            session_add_run(session, database, group, runs[i]->workers);
            session_drop_unreadable(session, LOGICAL);
        }
    }
    free(runs);
    if (session->runs.n) {
        session->title = mem_strdup(set->command);
        return session;
    }
    session_close(session);
    diag_error(folder, "no run of the set has a database");
    return NULL;
}

/* Takes the session. */
static int show_session(struct session *session, struct options *options, session_shower *show)
{
    int status = session ? show(session, options) : 1;
    if (session)
        session_close(session);
    return status;
}

int show_losses(struct options *options, session_shower *show)
{
    struct run_set set = {0};
    int status = 1;
    if (read_index(options->paths[0], &set))
        status = show_session(open_losses(options->paths[0], &set), options, show);
    run_set_free(&set);
    return status;
}

/* ---- the page ---- */

/* What the page needs to show databases. */
struct opener {
    struct options *options;
    session_shower *show;
};

static int open_run(const struct shown_set *shown, const struct set_run *run)
{
    const struct opener *opener = shown->context;
    autofree char *database = run ? database_of_set_run(shown->folder, run) : NULL;
    struct session *session = !run       ? open_losses(shown->folder, shown->set)
                              : database ? session_open(database, NULL)
                                         : NULL;
    return show_session(session, opener->options, opener->show);
}

int show_set(struct options *options, session_shower *show)
{
    struct opener opener = {options, show};
    struct run_set set = {0};
    struct scaling_table table = {0};
    struct shown_set shown = {.folder = options->paths[0],
                              .set = &set,
                              .table = &table,
                              .has_mouse = !options->no_mouse,
                              .open = open_run,
                              .context = &opener};
    int status = read_set(shown.folder, &set, &table) ? scaling_screen_run(&shown) : 1;
    scaling_table_free(&table);
    run_set_free(&set);
    return status;
}
