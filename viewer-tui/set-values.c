#include "viewer-tui/set-values.h"

#include "viewer-tui/compare/session.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/run-hpcprof.h"

#include "lib/diag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The total of the metric with this name, or of its first event: "work (REALTIME)". */
static double total(const struct view *view, const char *name)
{
    const struct metrics *metrics = view->metrics;
    char *with_event = mem_printf("%s (", name);
    size_t length = strlen(with_event), found = metrics_find(metrics, name);
    for (size_t m = 0; found >= metrics->n && m < metrics->n; m++)
        if (strncmp(metrics->at[m].name, with_event, length) == 0)
            found = m;
    free(with_event);
    bool is_measured = found < metrics->n && metric_is_measured(&metrics->at[found]);
    return is_measured ? view_total(view, found) : NAN;
}

static void read_database(const char *folder, struct run_values *values)
{
    struct session *session = session_open(folder, NULL);
    struct view *view = session ? session_view(session, LOGICAL, TOP_DOWN) : NULL;
    if (view)
        values->has_work_span = work_span_of(view, &values->work_span);
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
        char *path = mem_printf("%s/%s", folder, run->directory);
        char *database = run->workers ? database_beside(path) : NULL;
        if (database)
            read_database(database, &values);
        vec_push(&list, values);
        free(database);
        free(path);
    }
    diag_progress_end();
    return list;
}
