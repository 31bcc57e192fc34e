#include "viewer-tui/compare/session-views.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/metrics/derived.h"

#include <stdlib.h>

static const struct view_class *const classes[VIEWS] = {
    [TOP_DOWN] = &topdown_class, [BOTTOM_UP] = &bottomup_class, [FLAT] = &flat_class};

/* Opens the databases of all runs, as one; false if one of them cannot be read or they have no metric in common. */
static bool merge_runs(struct session *session, enum projection projection)
{
    size_t n = session->runs.n, n_open = 0;
    struct merged_run *runs = mem_alloc(n * sizeof *runs);
    struct merged_runs *merged = NULL;
    bool have_programs = false;
    for (; n_open < n; n_open++) {
        struct session_run *run = &session->runs.at[n_open];
        struct database *db = session_run_database(session, run, projection);
        if (!db)
            break;
        runs[n_open] = (struct merged_run){db, run->run, run->group, run->workers};
        have_programs |= db->programs.n > 1;
    }
    for (size_t i = 0; i < n_open && session_is_comparison(session); i++)
        session->runs.at[i].opened[projection].db->programs.are_compared = have_programs;
    if (n_open == n)
        merged = session->merge(runs, n, session->comparing);
    if (merged && metrics_n_shown(&merged->metrics) == 0) {
        struct text others = {0};
        comparison_only_in_one(merged, &others);
        problem_found(session->runs.at[merged_group_first(merged, 1)].folder, "has no metric in common with %s.%s",
                      session->runs.at[0].folder, text_string(&others));
        vec_free(&others);
        session->outcome = FAILED;
        merged_runs_free(merged);
        merged = NULL;
    }
    if (merged && !session->title)
        session->title = session_compared_title(session, merged);
    session->merged[projection] = merged;
    free(runs);
    return merged != NULL;
}

/* Merges a view of each run; NULL if one of them cannot be made. */
static struct view *merge_views(struct session *session, enum projection projection, enum view_id id)
{
    const struct merged_runs *merged = session->merged[projection];
    struct view **views = mem_alloc(session->runs.n * sizeof(struct view *)), *view = NULL;
    size_t n = 0;
    for (struct database *db; n < session->runs.n; n++) {
        db = session_run_database(session, &session->runs.at[n], projection);
        views[n] = db ? view_open(classes[id], db) : NULL;
        if (!views[n])
            break;
    }
    if (n == session->runs.n) {
        enum cost_part part = classes[id]->sorted_by;
        struct sorting sorting = {.metric = metrics_first_measured(&merged->metrics), .part = part};
        view = merged_open(merged, views, merged->comparing ? comparison_sorting(merged, part) : sorting);
    }
    while (!view && n > 0)
        view_close(views[--n]);
    free(views);
    return view;
}

/* Makes a view; NULL if it cannot be made, with session->outcome. */
static struct view *make_view(struct session *session, enum projection projection, enum view_id id)
{
    struct formula_error error;
    if (session_is_merged(session)) {
        if (!session->merged[projection] && !merge_runs(session, projection))
            return NULL;
        session->outcome = FAILED;
        struct metrics *metrics = &session->merged[projection]->metrics;
        for (size_t i = metrics->n - metrics->n_stored; i < session->definitions.n; i++)
            if (!derived_define(metrics, session->definitions.at[i], &error)) {
                session_definition_is_bad(session, session->definitions.at[i], &error);
                return NULL;
            }
        return merge_views(session, projection, id);
    }
    struct view *view = view_open(classes[id], session->runs.at[0].opened[projection].db);
    if (!view)
        session->outcome = STOPPED;
    return view;
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
