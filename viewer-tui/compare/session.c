#include "viewer-tui/compare/session.h"

#include "viewer-tui/advice/advice.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/db/fold.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/metrics/derived.h"

#include <stdlib.h>
#include <string.h>

struct session *session_new(const char *metric_list)
{
    struct session *session = mem_alloc(sizeof *session);
    session->metric_list = metric_list;
    return session;
}

void session_add_run(struct session *session, const char *folder, size_t group, unsigned workers)
{
    struct session_run run = {
        .folder = mem_strdup(folder), .run = run_read(folder), .group = group, .workers = workers};
    vec_push(&run.runs_read, run.run);
    run.times = run_times_of(run.run);
    vec_push(&session->runs, run);
}

struct session *session_open(const char *folder, const char *metric_list)
{
    struct session *session = session_new(metric_list);
    session_add_run(session, folder, 0, 0);
    session->folder = session->runs.at[0].folder;
    session->run = session->runs.at[0].run;
    return session;
}

void session_forget_views(struct session *session, int projection)
{
    for (int v = 0; v < VIEWS; v++) {
        view_close(session->views[projection][v]);
        session->views[projection][v] = NULL;
    }
    if (session->advice[projection])
        advice_free(session->advice[projection]);
    free(session->advice[projection]);
    session->advice[projection] = NULL;
}

static void close_run(struct session_run *run)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        struct database *db = run->opened[p].db;
        if (db) {
            fold_undo(db);
            database_forget_nodes(db);
        }
        database_close(db);
    }
    for (size_t i = 0; i < run->runs_read.n; i++)
        json_decref(run->runs_read.at[i]);
    vec_free(&run->runs_read);
    timeline_close(run->timeline);
    free(run->phases);
    vec_free(&run->ranges);
    free(run->range_name);
    free(run->title);
    free(run->folder);
}

void session_drop_last_run(struct session *session)
{
    close_run(&session->runs.at[--session->runs.n]);
}

void session_close(struct session *session)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        session_forget_views(session, p);
        merged_runs_free(session->merged[p]);
    }
    for (size_t i = 0; i < session->runs.n; i++)
        close_run(&session->runs.at[i]);
    vec_free(&session->runs);
    thread_set_free(session->threads);
    free(session->title);
    for (size_t i = 0; i < session->definitions.n; i++)
        free(session->definitions.at[i]);
    vec_free(&session->definitions);
    free(session);
}

void session_set_defaults(struct session *session, const char *metrics, const char *sort)
{
    if (session_has_losses(session)) /* which have metrics of their own */
        return;
    session->usual_metrics = metrics;
    session->usual_sort = sort;
}

/* The metrics of the projection's views; NULL if it is not open. */
static struct metrics *metrics_of(struct session *session, int projection)
{
    if (session->merged[projection])
        return &session->merged[projection]->metrics;
    struct database *db = session_is_merged(session) ? NULL : session->runs.at[0].opened[projection].db;
    return db ? &db->metrics : NULL;
}

bool session_define_now(struct session *session, enum projection projection, const char *definition,
                        struct formula_error *error)
{
    struct formula_error elsewhere;
    if (!derived_define(metrics_of(session, (int)projection), definition, error))
        return false;
    for (int p = 0; p < PROJECTIONS; p++)
        if (p != (int)projection && metrics_of(session, p))
            derived_define(metrics_of(session, p), definition, &elsewhere);
    vec_push(&session->definitions, mem_strdup(definition));
    return true;
}

void session_undefine(struct session *session, const char *name)
{
    autofree char *given_up = mem_strdup(name);
    for (int p = 0; p < PROJECTIONS; p++) {
        struct metrics *metrics = metrics_of(session, p);
        size_t metric = metrics ? metrics_find(metrics, given_up) : 0;
        if (!metrics || metric == metrics->n || !metric_derivation(&metrics->at[metric]))
            continue;
        size_t kept = 0;
        for (size_t i = 0; i < session->definitions.n; i++) {
            char *definition = session->definitions.at[i];
            if (strcmp(definition, metrics->at[metric].derived->text) == 0)
                free(definition);
            else
                session->definitions.at[kept++] = definition;
        }
        session->definitions.n = kept;
        derived_give_up(metrics, metric);
    }
}

void session_show(struct session *session, enum metric_set set)
{
    session->set = set;
    for (int p = 0; p < PROJECTIONS; p++) {
        for (size_t i = 0; i < session->runs.n && !session_has_losses(session); i++)
            if (session->runs.at[i].opened[p].db)
                session->runs.at[i].opened[p].db->metrics.set = set;
        if (session->merged[p])
            session->merged[p]->metrics.set = set;
    }
}

void session_fold(struct session *session, struct fold_choice folds)
{
    session->folds = folds;
    for (int p = 0; p < PROJECTIONS; p++)
        session_forget_views(session, p);
}

int session_exit_status(const struct session *session)
{
    return session->metric_list_is_bad ? 2 : 1;
}
