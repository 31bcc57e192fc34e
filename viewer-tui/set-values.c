#include "viewer-tui/set-values.h"

#include "viewer-tui/compare/session.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/run-hpcprof.h"

#include "lib/diag.h"
#include "viewer-tui/compare/session-databases.h"

#include <math.h>

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

run_value_list set_values(const char *folder, const struct run_set *set)
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
