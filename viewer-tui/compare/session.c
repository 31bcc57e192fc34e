#include "viewer-tui/compare/session.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/losses.h"
#include "viewer-tui/db/metric-reader.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/threads/run-slice.h"
#include "viewer-tui/threads/thread-sums.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct view_class *const classes[VIEWS] = {
    [TOP_DOWN] = &topdown_class, [BOTTOM_UP] = &bottomup_class, [FLAT] = &flat_class};

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

void session_compare(struct session *session, const struct comparison_options *options)
{
    session->merge = comparison_new;
    session->comparing = options;
}

void session_show_losses(struct session *session, const char *title)
{
    session->merge = losses_new;
    session->title = mem_strdup(title);
}

static void forget_views(struct session *session, int projection)
{
    for (int v = 0; v < VIEWS; v++) {
        view_close(session->views[projection][v]);
        session->views[projection][v] = NULL;
    }
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
    free(run->range_name);
    free(run->title);
    free(run->folder);
}

void session_close(struct session *session)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        forget_views(session, p);
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

void session_set_rules(struct session *session, const struct path_rules *rules)
{
    session->rules = rules;
}

void session_define(struct session *session, const char *definition)
{
    vec_push(&session->definitions, mem_strdup(definition));
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
    session_define(session, definition);
    return true;
}

void session_undefine(struct session *session, const char *name)
{
    char *given_up = mem_strdup(name);
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
    free(given_up);
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
        forget_views(session, p);
}

/* The folder of a projection; the caller frees. */
static char *projection_folder(const struct session_run *run, enum projection projection)
{
    return mem_printf("%s%s", run->folder, projection == PHYSICAL ? "/" V4_PHYSICAL_FOLDER : "");
}

static bool has_projection(const struct session_run *run, enum projection projection)
{
    char *folder = projection_folder(run, projection);
    char *path = mem_printf("%s/%s", folder, V4_META_FILE);
    bool exists = access(path, F_OK) == 0;
    free(path);
    free(folder);
    return exists;
}

bool session_has_projection(const struct session *session, enum projection projection)
{
    bool have_it = true;
    for (size_t i = 0; i < session->runs.n; i++)
        have_it &= has_projection(&session->runs.at[i], projection);
    return have_it;
}

static bool definition_is_bad(struct session *session, const char *definition, const struct formula_error *error)
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
            return definition_is_bad(session, session->definitions.at[i], &error);
    bool is_default = !session->metric_list;
    char *unknown = choose_metrics(
        db, run, is_default ? session->usual_metrics : session->metric_list, is_default);
    if (unknown) {
        session->metric_list_is_bad = true;
        char *names = choose_names(&db->metrics);
        problem_found(db->folder, "no metric '%s'; there are: %s", unknown, names);
        free(names);
        free(unknown);
        return false;
    }
    if (!session_has_losses(session))
        db->metrics.set = session->set;
    size_t metric;
    if (!derived_settle(&db->metrics, &metric, &error))
        return definition_is_bad(session, db->metrics.at[metric].derived->text, &error);
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
    char *folder = projection_folder(run, projection);
    struct database *db = database_open(folder);
    free(folder);
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
    bool changes_metrics = run->has_range || db->slice;
    bool are_settled =
        !changes_metrics || (metrics_read(&db->metrics, &db->meta) && settle_metrics(session, run->run, db));
    if (are_settled && run->has_range)
        slice = time_slice_new(db, run->timeline, run->range, is_physical, run->runs_read.at[0]);
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
        forget_views(session, projection);
        opened->folds = session->folds;
        opened->restriction = run->restriction;
    }
    if (opened->folds.inlined || opened->folds.recursion)
        fold_nodes(opened->db, opened->folds);
    return outcome;
}

/* The database of a run, opened at the first call; NULL as in session_database. */
static struct database *database_of(struct session *session, struct session_run *run, enum projection projection)
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
    return database_of(session, &session->runs.at[0], projection);
}

void session_drop_unreadable(struct session *session, enum projection projection)
{
    struct session_run *last = &session->runs.at[session->runs.n - 1];
    if (database_of(session, last, projection))
        return;
    close_run(last);
    session->runs.n--;
}

/* The command that a run is of, and what its values are restricted to. */
static const char *run_title(const struct session_run *run, const struct database *db)
{
    const char *title = run->title ? run->title : run_text(run->run, "title");
    return *title ? title : database_title(db);
}

/* "xz -9 [before] and [after]", of repeated runs "xz -9 [before, 5 runs] and [after, 5 runs]"; the caller frees. */
static char *compared_title(const struct session *session, const struct merged_runs *merged)
{
    const char *titles[SIDES];
    struct text title = {0};
    for (int side = 0; side < SIDES; side++) {
        size_t first = merged_group_first(merged, (size_t)side), n = merged_group_size(merged, (size_t)side);
        titles[side] = run_title(&session->runs.at[first], merged->runs.at[first].db);
        if (side == 0 || strcmp(titles[0], titles[1]) != 0)
            text_printf(&title, "%s ", titles[side]);
        text_printf(&title, "[%s", comparison_name(merged, side));
        if (merged_is_of_repeats(merged))
            text_printf(&title, ", %zu run%s", n, n == 1 ? "" : "s");
        text_add(&title, side == 0 ? "] and " : "]");
    }
    return title.at;
}

/* Notes that the sides have no metric in common. */
static void report_no_metrics(const struct session *session, const struct merged_runs *merged)
{
    struct text others = {0};
    comparison_only_in_one(merged, &others);
    problem_found(session->runs.at[merged_group_first(merged, 1)].folder, "has no metric in common with %s.%s",
                  session->runs.at[0].folder, text_string(&others));
    vec_free(&others);
}

/* Opens the databases of all runs, as one; false if one of them cannot be read or they have no metric in common. */
static bool merge_runs(struct session *session, enum projection projection)
{
    size_t n = session->runs.n, n_open = 0;
    struct merged_run *runs = mem_alloc(n * sizeof *runs);
    struct merged_runs *merged = NULL;
    bool have_programs = false;
    for (; n_open < n; n_open++) {
        struct session_run *run = &session->runs.at[n_open];
        struct database *db = database_of(session, run, projection);
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
        report_no_metrics(session, merged);
        session->outcome = FAILED;
        merged_runs_free(merged);
        merged = NULL;
    }
    if (merged && !session->title)
        session->title = compared_title(session, merged);
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
        db = database_of(session, &session->runs.at[n], projection);
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
                definition_is_bad(session, session->definitions.at[i], &error);
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

bool session_recursion_is_collapsed(const struct session *session)
{
    bool are_collapsed = true;
    for (size_t i = 0; i < session->runs.n && !session->folds.recursion; i++)
        are_collapsed &= strcmp(run_text(session->runs.at[i].run, "recursion"), "collapsed") == 0;
    return are_collapsed;
}

const char *session_folding_words(const struct session *session)
{
    static const char *const words[2][2] = {
        {"", ", recursion collapsed"},
        {", inlined code folded", ", inlined code folded, recursion collapsed"},
    };
    return words[session->folds.inlined][session_recursion_is_collapsed(session)];
}

int session_exit_status(const struct session *session)
{
    return session->metric_list_is_bad ? 2 : 1;
}

const char *projection_name(enum projection projection)
{
    return projection == PHYSICAL ? "physical" : "logical";
}

/* What can be restricted. */
struct restriction {
    struct thread_set *threads;
    struct time_range range;
    bool has_range;
    char *range_name;
    json_t *run;
};

static struct restriction restriction_of(const struct session *session, const struct session_run *run)
{
    return (struct restriction){session->threads, run->range, run->has_range, run->range_name, run->run};
}

static void put(struct session *session, struct session_run *run, const struct restriction *restriction)
{
    session->threads = restriction->threads;
    run->range = restriction->range;
    run->has_range = restriction->has_range;
    run->range_name = restriction->range_name;
    run->run = restriction->run;
    if (!session_is_merged(session))
        session->run = run->run;
}

static void describe_restriction(const struct session *session, const struct session_run *run, const char *before,
                                 bool ascii, struct text *out)
{
    if (session->threads) {
        text_add(out, before);
        thread_set_describe(session->threads, ascii, out);
    }
    if (run->has_range)
        text_printf(out, "%stime: %s", before, run->range_name);
}

void session_describe_restriction(const struct session *session, const char *before, bool ascii, struct text *out)
{
    if (!session_is_merged(session))
        describe_restriction(session, &session->runs.at[0], before, ascii, out);
}

static void name_restriction(const struct session *session, struct session_run *run, const struct database *db)
{
    free(run->title);
    run->title = NULL;
    if (!session->threads && !run->has_range)
        return;
    struct text title = {0};
    text_add(&title, run_title(run, db));
    describe_restriction(session, run, "  ", false, &title);
    run->title = title.at;
}

/* Unless that is DONE, the restriction is as before. */
static enum outcome change_restriction(struct session *session, struct session_run *run, enum projection projection,
                                       const struct restriction *restriction)
{
    struct restriction before = restriction_of(session, run);
    put(session, run, restriction);
    run->restriction++;
    const struct database *db = database_of(session, run, projection);
    if (!db) {
        put(session, run, &before);
        run->restriction--;
        return session->outcome;
    }
    run->times = run_times_of(run->run);
    name_restriction(session, run, db);
    return DONE;
}

enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set)
{
    struct session_run *run = &session->runs.at[0];
    struct restriction restriction = restriction_of(session, run);
    struct thread_set *before = restriction.threads;
    restriction.threads = set;
    enum outcome outcome = change_restriction(session, run, projection, &restriction);
    thread_set_free(outcome == DONE ? before : set);
    return outcome;
}

static const struct timeline *timeline_of(struct session_run *run)
{
    if (!run->timeline)
        run->timeline = timeline_open(run->folder, run->runs_read.at[0]);
    return run->timeline;
}

const struct timeline *session_timeline(struct session *session)
{
    return session_is_merged(session) ? NULL : timeline_of(&session->runs.at[0]);
}

static void lacks_timeline(const struct session_run *run)
{
    problem_found(run->folder, "has no time line: measure and analyze the program again (without --trace off)");
}

static const struct phases *phases_of(struct session *session, struct session_run *run)
{
    struct database *db = run->phases ? NULL : database_of(session, run, LOGICAL);
    const struct timeline *timeline = db ? timeline_of(run) : NULL;
    if (timeline) {
        run->phases = mem_alloc(sizeof *run->phases);
        *run->phases = phases_find(db, timeline);
    } else if (db) {
        lacks_timeline(run);
    }
    return run->phases;
}

const struct phases *session_phases(struct session *session)
{
    return phases_of(session, &session->runs.at[0]);
}

/* "1.2 s to 3.4 s": in steps of at most a thousandth of the range; the caller frees. */
static char *name_of_range(struct time_range range)
{
    double length = (double)(range.to - range.from), step = pow(10, floor(log10(fmax(length, 1))) - 3);
    return mem_printf("%.12g s to %.12g s", round((double)range.from / step) * step * 1e-9,
                      round((double)range.to / step) * step * 1e-9);
}

static enum outcome set_range(struct session *session, struct session_run *run, enum projection projection,
                              const struct time_range *range, const char *name)
{
    const struct timeline *timeline = timeline_of(run);
    if (range && (!timeline || !run->runs_read.at[0])) {
        lacks_timeline(run);
        return FAILED;
    }
    struct restriction restriction = restriction_of(session, run);
    char *before = restriction.range_name;
    restriction.has_range = range != NULL;
    restriction.range = range ? *range : (struct time_range){0};
    restriction.range_name = !range ? NULL : name ? mem_strdup(name) : name_of_range(*range);
    restriction.run = range ? run_slice(run->runs_read.at[0], timeline, *range) : run->runs_read.at[0];
    if (range)
        vec_push(&run->runs_read, restriction.run);
    enum outcome outcome = change_restriction(session, run, projection, &restriction);
    free(outcome == DONE ? before : restriction.range_name);
    return outcome;
}

enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name)
{
    return set_range(session, &session->runs.at[0], projection, range, name);
}

/* Restricts a run to one of its phases. */
static bool take_phase(struct session *session, struct session_run *run, enum projection projection, unsigned number,
                       char **cause)
{
    const struct phases *phases = phases_of(session, run);
    if (phases && number > phases->n)
        *cause = mem_printf("there %s %zu phase%s, no phase %u", phases->n == 1 ? "is" : "are", phases->n,
                            phases->n == 1 ? "" : "s", number);
    if (!phases || number > phases->n)
        return false;
    struct time_range range = phases->at[number - 1].range;
    char *of_range = name_of_range(range), *name = mem_printf("%s, phase %u of %zu", of_range, number, phases->n);
    enum outcome outcome = set_range(session, run, projection, &range, name);
    free(of_range);
    free(name);
    return outcome == DONE;
}

/* Restricts a run to the piece of time that the user asked for, if any. */
static bool take_range(struct session *session, struct session_run *run, enum projection projection, char **cause)
{
    const struct asked_range *asked = &run->asked_range;
    struct time_range range = {0};
    if (asked->phase)
        return take_phase(session, run, projection, asked->phase, cause);
    if (!asked->from.is_given && !asked->to.is_given)
        return true;
    const struct timeline *timeline = timeline_of(run);
    if (timeline && (*cause = asked_range_in(asked, timeline, &range)))
        return false;
    return set_range(session, run, projection, &range, NULL) == DONE;
}

bool session_take_ranges(struct session *session, enum projection projection, char **cause)
{
    for (size_t i = 0; i < session->runs.n; i++)
        if (!take_range(session, &session->runs.at[i], projection, cause))
            return false;
    return true;
}

/* The threads of a projection that `choose` finds. */
static struct thread_set *choose_threads(struct session *session, enum projection projection,
                                         struct thread_set *(*choose)(const struct threads *threads, const json_t *run,
                                                                      const char *wanted, char **cause),
                                         const char *wanted, char **cause)
{
    const struct database *db = session_database(session, projection);
    if (!db)
        return NULL;
    struct threads threads;
    threads_read(&threads, db, session->run);
    struct thread_set *set = choose(&threads, session->run, wanted, cause);
    threads_free(&threads);
    return set;
}

struct thread_set *session_matching_threads(struct session *session, enum projection projection,
                                            const char *expression, char **cause)
{
    return choose_threads(session, projection, thread_set_matching, expression, cause);
}

struct thread_set *session_threads_of_program(struct session *session, enum projection projection,
                                              const char *program, char **cause)
{
    return choose_threads(session, projection, thread_set_of_program, program, cause);
}

const char *session_title(const struct session *session, const struct database *db)
{
    return session->title ? session->title : run_title(&session->runs.at[0], db);
}
