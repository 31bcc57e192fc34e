#include "viewer-tui/compare/session-databases.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/losses.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/db/metric-reader.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/threads/thread-sums.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder of a projection; the caller frees. */
static char *projection_folder(const struct session_run *run, enum projection projection)
{
    return mem_printf("%s%s", run->folder, projection == PHYSICAL ? "/" V4_PHYSICAL_FOLDER : "");
}

static bool has_projection(const struct session_run *run, enum projection projection)
{
    autofree char *folder = projection_folder(run, projection);
    autofree char *path = mem_printf("%s/%s", folder, V4_META_FILE);
    bool exists = access(path, F_OK) == 0;
    return exists;
}

bool session_has_projection(const struct session *session, enum projection projection)
{
    bool have_it = true;
    for (size_t i = 0; i < session->runs.n; i++)
        have_it &= has_projection(&session->runs.at[i], projection);
    return have_it;
}

bool session_definition_is_bad(struct session *session, const char *definition, const struct formula_error *error)
{
    session->metric_list_is_bad = true;
    problem_found("--derive", "'%s': %s, at character %zu", definition, error->what, error->at + 1);
    return false;
}

/* Chooses the metrics to show; false, with the problem noted, if that leaves none. */
static bool settle_metrics(struct session *session, const json_t *run, struct database *db)
{
    struct formula_error error;
    choose_complete(db, run);
    for (size_t i = 0; i < session->definitions.n && !session_is_merged(session); i++)
        if (!derived_add(&db->metrics, session->definitions.at[i], &error))
            return session_definition_is_bad(session, session->definitions.at[i], &error);
    bool is_default = !session->metric_list;
    char *unknown = choose_metrics(
        db, run, is_default ? session->usual_metrics : session->metric_list, is_default);
    if (unknown) {
        session->metric_list_is_bad = true;
        autofree char *names = choose_names(&db->metrics);
        problem_found(db->folder, "no metric '%s'; there are: %s", unknown, names);
        free(unknown);
        return false;
    }
    if (!session_has_losses(session))
        db->metrics.set = session->set;
    size_t metric;
    if (!derived_settle(&db->metrics, &metric, &error))
        return session_definition_is_bad(session, db->metrics.at[metric].derived->text, &error);
    if (db->metrics.n == 0)
        problem_found(db->folder, "no metrics in it");
    else if (metrics_n_shown(&db->metrics) == 0)
        problem_found(db->folder, "no overhead in it that could be shown by kind");
    return metrics_n_shown(&db->metrics) > 0;
}

static struct database *open_projection(struct session *session, const struct session_run *run,
                                        enum projection projection)
{
    session->outcome = FAILED;
    if (projection == PHYSICAL && !has_projection(run, projection)) {
        problem_found(run->folder, "no physical projection in it");
        return NULL;
    }
    autofree char *folder = projection_folder(run, projection);
    struct database *db = database_open(folder);
    if (!db)
        return NULL;
    db->rules = session->rules;
    if (projection == LOGICAL)
        database_set_no_call_site(db, json_object_get(run->run, "unknown_call_sites"));
    bool is_settled = settle_metrics(session, run->run, db);
    if (is_settled && database_nodes(db))
        session->outcome = DONE;
    else if (is_settled)
        session->outcome = STOPPED;
    if (session->outcome == DONE)
        return db;
    database_close(db);
    return NULL;
}

/* Restricts the values of a database to the session's threads and the run's range. What is measured depends on the
 * range. */
static enum outcome restrict_database(struct session *session, const struct session_run *run, struct database *db,
                                      bool is_physical)
{
    struct time_slice *slice = NULL;
    struct metrics before = db->metrics;
    bool changes_metrics = run->ranges.n > 0 || db->slice;
    bool are_settled =
        !changes_metrics || (metrics_read(&db->metrics, &db->meta) && settle_metrics(session, run->run, db));
    if (are_settled && run->ranges.n > 0)
        slice = time_slice_new(db, run->timeline, &run->ranges, is_physical, run->runs_read.at[0]);
    enum outcome outcome = are_settled ? database_restrict(db, session->threads, slice) : FAILED;
    if (changes_metrics)
        metrics_free(outcome == DONE ? &before : &db->metrics);
    if (changes_metrics && outcome != DONE)
        db->metrics = before;
    return outcome;
}

/* Restricts the values to the session's threads and the run's range, and folds what is to be folded. */
static enum outcome follow_restriction(struct session *session, const struct session_run *run, int projection,
                                       struct opened *opened)
{
    bool is_restricted = opened->restriction == run->restriction;
    if (is_restricted && fold_choice_is_same(opened->folds, session->folds))
        return DONE;
    fold_undo(opened->db);
    enum outcome outcome =
        is_restricted ? DONE : restrict_database(session, run, opened->db, projection == PHYSICAL);
    if (outcome == DONE) {
        session_forget_views(session, projection);
        opened->folds = session->folds;
        opened->restriction = run->restriction;
    }
    if (opened->folds.inlined || opened->folds.recursion ||
        (opened->folds.kernel && database_has_kernel(opened->db)))
        fold_nodes(opened->db, opened->folds);
    return outcome;
}

struct database *session_run_database(struct session *session, struct session_run *run, enum projection projection)
{
    struct opened *opened = &run->opened[projection];
    if (!opened->db)
        opened->db = open_projection(session, run, projection);
    if (opened->db)
        session->outcome = follow_restriction(session, run, (int)projection, opened);
    return session->outcome == DONE ? opened->db : NULL;
}

struct database *session_database(struct session *session, enum projection projection)
{
    assert(!session_is_merged(session));
    return session_run_database(session, &session->runs.at[0], projection);
}

void session_drop_unreadable(struct session *session, enum projection projection)
{
    struct session_run *last = &session->runs.at[session->runs.n - 1];
    if (session_run_database(session, last, projection))
        return;
    session_drop_last_run(session);
}

static const struct view_class *const classes[VIEWS] = {
    [TOP_DOWN] = &topdown_class, [BOTTOM_UP] = &bottomup_class, [FLAT] = &flat_class};

/* Opens the databases of all runs, as one; false if one of them cannot be read or they have no metric in common. */
static bool merge_runs(struct session *session, enum projection projection)
{
    size_t n = session->runs.n, n_open = 0;
    autofree struct merged_run *runs = mem_alloc(n * sizeof *runs);
    struct merged_runs *merged = NULL;
    bool have_programs = false;
    for (; n_open < n; n_open++) {
        struct session_run *run = &session->runs.at[n_open];
        struct database *db = session_run_database(session, run, projection);
        if (!db)
            break;
        runs[n_open] = (struct merged_run){db, run->run, run->group, run->workers};
        have_programs |= db->programs.names.count > 1;
    }
    for (size_t i = 0; i < n_open && session_is_comparison(session); i++)
        session->runs.at[i].opened[projection].db->programs.are_compared = have_programs;
    if (n_open == n)
        merged = session->comparing ? comparison_new(runs, n, session->comparing) : losses_new(runs, n);
    if (merged && metrics_n_shown(&merged->metrics) == 0) {
        autofree struct text others = {0};
        comparison_only_in_one(merged, &others);
        problem_found(session->runs.at[merged_group_first(merged, 1)].folder, "has no metric in common with %s.%s",
                      session->runs.at[0].folder, text_string(&others));
        session->outcome = FAILED;
        merged_runs_free(merged);
        merged = NULL;
    }
    if (merged && !session->title)
        session->title = session_compared_title(session, merged);
    session->merged[projection] = merged;
    return merged != NULL;
}

/* Merges the runs, and defines the derived metrics of what they are merged into, unless that was done before. */
static bool settle_merged(struct session *session, enum projection projection)
{
    struct formula_error error;
    if (!session->merged[projection] && !merge_runs(session, projection))
        return false;
    struct metrics *metrics = &session->merged[projection]->metrics;
    for (size_t i = metrics->n - metrics->n_stored; i < session->definitions.n; i++)
        if (!derived_define(metrics, session->definitions.at[i], &error)) {
            session->outcome = FAILED;
            return session_definition_is_bad(session, session->definitions.at[i], &error);
        }
    return true;
}

/* Makes a view, of several runs one of each; NULL if it cannot be made, with session->outcome. */
static struct view *make_view(struct session *session, enum projection projection, enum view_id id)
{
    if (session_is_merged(session) && !settle_merged(session, projection))
        return NULL;
    const struct merged_runs *merged = session->merged[projection];
    struct view **views = mem_alloc(session->runs.n * sizeof(struct view *)), *only;
    for (size_t n = 0; n < session->runs.n; n++) {
        struct database *db = session_run_database(session, &session->runs.at[n], projection);
        views[n] = db ? view_open(classes[id], db) : NULL;
        if (views[n])
            continue;
        session->outcome = db ? STOPPED : session->outcome;
        while (n > 0)
            view_close(views[--n]);
        free(views);
        return NULL;
    }
    if (merged)
        return merged_open(merged, views, comparison_sorting(merged, classes[id]->sorted_by));
    only = views[0];
    free(views);
    return only;
}

struct view *session_view(struct session *session, enum projection projection, enum view_id id)
{
    struct view **view = &session->views[projection][id];
    if (!session_is_merged(session) && !session_database(session, projection))
        return NULL;
    if (*view)
        return *view;
    *view = make_view(session, projection, id);
    struct sorting sorting = *view ? (*view)->sorting : (struct sorting){0};
    if (*view && session->usual_sort && choose_sorting((*view)->metrics, session->usual_sort, &sorting) &&
        metric_is_measured(&(*view)->metrics->at[sorting.metric]))
        view_sort(*view, sorting);
    return *view;
}
