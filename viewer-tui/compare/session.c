#include "viewer-tui/compare/session.h"

#include "viewer-tui/advice/finding-phase.h"
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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct view_class *const classes[VIEWS] = {
    [TOP_DOWN] = &topdown_class, [BOTTOM_UP] = &bottomup_class, [FLAT] = &flat_class};

struct session *session_open(const char *folder, const char *metric_list)
{
    struct session *session = mem_alloc(sizeof *session);
    session->folder = mem_strdup(folder);
    session->metric_list = metric_list;
    session->run = run_read(folder);
    vec_push(&session->runs_read, session->run);
    session->times = run_times_of(session->run);
    return session;
}

static struct session *session_of_runs(struct session *const *runs, size_t n)
{
    struct session *session = mem_alloc(sizeof *session);
    session->n_runs = n;
    session->runs = mem_alloc(n * sizeof(struct session *));
    session->groups = mem_alloc(n * sizeof *session->groups);
    memcpy(session->runs, runs, n * sizeof(struct session *));
    session->set = runs[0]->set;
    return session;
}

struct session *session_compare(struct session *const *runs, size_t n_left, size_t n_right,
                                const struct comparison_options *options)
{
    struct session *session = session_of_runs(runs, n_left + n_right);
    for (size_t i = n_left; i < n_left + n_right; i++)
        session->groups[i] = 1;
    session->sides[0] = runs[0];
    session->sides[1] = runs[n_left];
    session->comparing = options;
    return session;
}

struct session *session_of_losses(struct session *const *runs, const unsigned *workers, size_t n, const char *title)
{
    struct session *session = session_of_runs(runs, n);
    session->title = mem_strdup(title);
    for (size_t i = 0, at; i < n; i++) {
        for (at = i; at > 0 && session->groups[at - 1] < workers[i]; at--) {
            session->runs[at] = session->runs[at - 1];
            session->groups[at] = session->groups[at - 1];
        }
        session->runs[at] = runs[i];
        session->groups[at] = workers[i];
    }
    return session;
}

static void forget_views(struct opened *opened)
{
    for (int v = 0; v < VIEWS; v++) {
        view_close(opened->views[v]);
        opened->views[v] = NULL;
    }
}

void session_close(struct session *session)
{
    for (int p = 0; p < PROJECTIONS; p++) {
        forget_views(&session->opened[p]);
        if (session->opened[p].comparison)
            comparison_free(session->opened[p].comparison);
        else
            losses_free(session->opened[p].merged);
        if (session->opened[p].db) {
            fold_undo(session->opened[p].db);
            database_forget_nodes(session->opened[p].db);
        }
        database_close(session->opened[p].db);
    }
    for (size_t i = 0; i < session->n_runs; i++)
        session_close(session->runs[i]);
    free(session->runs);
    free(session->groups);
    thread_set_free(session->threads);
    free(session->title);
    for (size_t i = 0; i < session->definitions.n; i++)
        free(session->definitions.at[i]);
    vec_free(&session->definitions);
    for (size_t i = 0; i < session->runs_read.n; i++)
        json_decref(session->runs_read.at[i]);
    vec_free(&session->runs_read);
    timeline_close(session->timeline);
    free(session->phases);
    free(session->range_name);
    free(session->folder);
    free(session);
}

void session_set_defaults(struct session *session, const char *metrics, const char *sort)
{
    session->usual_metrics = metrics;
    session->usual_sort = sort;
    for (size_t i = 0; session_is_comparison(session) && i < session->n_runs; i++)
        session->runs[i]->usual_metrics = metrics; /* losses have metrics of their own */
}

void session_set_rules(struct session *session, const struct path_rules *rules)
{
    session->rules = rules;
    for (size_t i = 0; i < session->n_runs; i++)
        session->runs[i]->rules = rules;
}

void session_define(struct session *session, const char *definition)
{
    vec_push(&session->definitions, mem_strdup(definition));
}

/* The metrics of the projection's views; NULL if it is not open. */
static struct metrics *metrics_of(struct session *session, int projection)
{
    struct opened *opened = &session->opened[projection];
    if (opened->merged)
        return &opened->merged->metrics;
    return opened->db ? &opened->db->metrics : NULL;
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
    for (size_t i = 0; session_is_comparison(session) && i < session->n_runs; i++)
        session_show(session->runs[i], set);
    for (int p = 0; p < PROJECTIONS; p++)
        if (metrics_of(session, p))
            metrics_of(session, p)->set = set;
}

void session_fold(struct session *session, struct fold_choice folds)
{
    session->folds = folds;
    for (int p = 0; p < PROJECTIONS; p++)
        forget_views(&session->opened[p]);
    for (size_t i = 0; i < session->n_runs; i++)
        session_fold(session->runs[i], folds);
}

/* The folder of a projection; the caller frees. */
static char *projection_folder(const struct session *session, enum projection projection)
{
    const char *below = projection == PHYSICAL ? "/" V4_PHYSICAL_FOLDER : "";
    return mem_printf("%s%s", session->folder, below);
}

bool session_has_projection(const struct session *session, enum projection projection)
{
    for (size_t i = 0; i < session->n_runs; i++)
        if (!session_has_projection(session->runs[i], projection))
            return false;
    if (session_is_merged(session))
        return true;
    char *folder = projection_folder(session, projection);
    char *path = mem_printf("%s/%s", folder, V4_META_FILE);
    bool exists = access(path, F_OK) == 0;
    free(path);
    free(folder);
    return exists;
}

static bool definition_is_bad(struct session *session, const char *definition, const struct formula_error *error)
{
    session->metric_list_is_bad = true;
    problem_found("--derive", "'%s': %s, at character %zu", definition, error->what, error->at + 1);
    return false;
}

/* Chooses the metrics to show; false, with the problem noted, if that leaves none. */
static bool settle_metrics(struct session *session, struct database *db)
{
    struct formula_error error;
    choose_complete(db, session->run);
    for (size_t i = 0; i < session->definitions.n; i++)
        if (!derived_add(&db->metrics, session->definitions.at[i], &error))
            return definition_is_bad(session, session->definitions.at[i], &error);
    bool is_default = !session->metric_list;
    char *unknown = choose_metrics(
        db, session->run, is_default ? session->usual_metrics : session->metric_list, is_default);
    if (unknown) {
        session->metric_list_is_bad = true;
        char *names = choose_names(&db->metrics);
        problem_found(db->folder, "no metric '%s'; there are: %s", unknown, names);
        free(names);
        free(unknown);
        return false;
    }
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

static struct database *open_projection(struct session *session, enum projection projection)
{
    session->outcome = FAILED;
    if (projection == PHYSICAL && !session_has_projection(session, projection)) {
        problem_found(session->folder, "no physical projection in it");
        return NULL;
    }
    char *folder = projection_folder(session, projection);
    struct database *db = database_open(folder);
    free(folder);
    if (db)
        db->rules = session->rules;
    if (db && projection == LOGICAL)
        database_set_no_call_site(db, json_object_get(session->run, "unknown_call_sites"));
    if (db && !settle_metrics(session, db)) {
        database_close(db);
        db = NULL;
    }
    if (db && !database_nodes(db)) {
        database_close(db);
        session->outcome = STOPPED;
        return NULL;
    }
    session->outcome = db ? DONE : FAILED;
    return db;
}

/* Restricts the values of a database to the session's threads and range. What is measured depends on the range. */
static enum outcome restrict_database(struct session *session, struct opened *opened, bool is_physical)
{
    struct database *db = opened->db;
    struct time_slice *slice = NULL;
    struct metrics before = db->metrics;
    bool changes_metrics = session->has_range || db->slice;
    bool are_settled = !changes_metrics || (metrics_read(&db->metrics, &db->meta) && settle_metrics(session, db));
    if (are_settled && session->has_range)
        slice = time_slice_new(db, session->timeline, session->range, is_physical, session->runs_read.at[0]);
    enum outcome outcome = are_settled ? database_restrict(db, session->threads, slice) : FAILED;
    if (changes_metrics)
        metrics_free(outcome == DONE ? &before : &db->metrics);
    if (changes_metrics && outcome != DONE)
        db->metrics = before;
    return outcome;
}

/* Restricts the values to the session's threads and range, and folds what is to be folded. */
static enum outcome follow_restriction(struct session *session, struct opened *opened)
{
    bool is_restricted = opened->restriction == session->restriction;
    if (is_restricted && fold_choice_is_same(opened->folds, session->folds))
        return DONE;
    fold_undo(opened->db);
    enum outcome outcome =
        is_restricted ? DONE : restrict_database(session, opened, opened == &session->opened[PHYSICAL]);
    if (outcome == DONE) {
        forget_views(opened);
        opened->folds = session->folds;
        opened->restriction = session->restriction;
    }
    if (opened->folds.inlined || opened->folds.recursion)
        fold_nodes(opened->db, opened->folds);
    return outcome;
}

struct database *session_database(struct session *session, enum projection projection)
{
    assert(!session_is_merged(session));
    struct opened *opened = &session->opened[projection];
    if (!opened->db)
        opened->db = open_projection(session, projection);
    if (opened->db)
        session->outcome = follow_restriction(session, opened);
    return session->outcome == DONE ? opened->db : NULL;
}

static void sort_as_usual(const struct session *session, struct view *view)
{
    struct sorting sorting = view->sorting;
    if (session->usual_sort && choose_sorting(view->metrics, session->usual_sort, &sorting) &&
        metric_is_measured(&view->metrics->at[sorting.metric]))
        view_sort(view, sorting);
}

/* "xz -9 [before] and [after]", of repeated runs "xz -9 [before, 5 runs] and [after, 5 runs]"; the caller frees. */
static char *compared_title(const struct session *session, const struct comparison *comparison)
{
    const char *titles[SIDES];
    struct text title = {0};
    for (int side = 0; side < SIDES; side++) {
        size_t n = comparison_n_runs(comparison, side);
        titles[side] = session_title(session->sides[side], comparison->sides[side].db);
        if (side == 0 || strcmp(titles[0], titles[1]) != 0)
            text_printf(&title, "%s ", titles[side]);
        text_printf(&title, "[%s", session->comparing->names[side]);
        if (comparison->merged.runs.n > SIDES)
            text_printf(&title, ", %zu run%s", n, n == 1 ? "" : "s");
        text_add(&title, side == 0 ? "] and " : "]");
    }
    return title.at;
}

/* The comparison of a projection. NULL, with the problem noted, if they have no metric in common. */
static struct comparison *compare_runs(struct session *session, enum projection projection,
                                       const struct merged_run *runs)
{
    bool have_programs = false;
    for (size_t i = 0; i < session->n_runs; i++)
        have_programs |= runs[i].db->programs.n > 1;
    for (size_t i = 0; i < session->n_runs; i++)
        session->runs[i]->opened[projection].db->programs.are_compared = have_programs;
    struct comparison *comparison = comparison_new(runs, session->n_runs, session->comparing);
    if (metrics_n_shown(&comparison->merged.metrics) == 0) {
        struct text others = {0};
        comparison_only_in_one(comparison, &others);
        problem_found(session->sides[1]->folder, "has no metric in common with %s.%s", session->sides[0]->folder,
                      text_string(&others));
        vec_free(&others);
        comparison_free(comparison);
        return NULL;
    }
    if (!session->title)
        session->title = compared_title(session, comparison);
    return comparison;
}

/* Opens the databases of all runs, as one; false if one of them cannot be read or they have no metric in common. */
static bool merge_runs(struct session *session, enum projection projection)
{
    struct opened *opened = &session->opened[projection];
    struct merged_run *runs = mem_alloc(session->n_runs * sizeof *runs);
    struct loss_run *losses = mem_alloc(session->n_runs * sizeof *losses);
    bool are_open = true;
    for (size_t i = 0; are_open && i < session->n_runs; i++) {
        struct session *run = session->runs[i];
        runs[i] = (struct merged_run){session_database(run, projection), run->run, session->groups[i]};
        losses[i] = (struct loss_run){session->groups[i], run_most_cpus(run->run), runs[i].db};
        are_open = runs[i].db != NULL;
    }
    if (are_open && session_is_comparison(session))
        opened->comparison = compare_runs(session, projection, runs);
    else if (are_open)
        opened->merged = losses_new(losses, session->n_runs);
    if (opened->comparison)
        opened->merged = &opened->comparison->merged;
    free(losses);
    free(runs);
    return opened->merged != NULL;
}

/* Merges a view of each run; NULL if one of them cannot be made. */
static struct view *merge_views(struct session *session, enum projection projection, enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    struct view **views = mem_alloc(session->n_runs * sizeof(struct view *)), *view = NULL;
    size_t n = 0;
    while (n < session->n_runs && (views[n] = session_view(session->runs[n], projection, id)) != NULL)
        session->runs[n++]->opened[projection].views[id] = NULL; /* the merged view owns it */
    if (n == session->n_runs) {
        enum cost_part part = classes[id]->sorted_by;
        struct sorting sorting = {.metric = metrics_first_measured(&opened->merged->metrics), .part = part};
        if (opened->comparison)
            sorting = comparison_sorting(opened->comparison, part);
        view = merged_open(opened->merged, views, sorting);
        if (opened->comparison)
            sort_as_usual(session, view);
    }
    while (!view && n > 0)
        view_close(views[--n]);
    free(views);
    return view;
}

/* Defines the derived metrics in those of merged views; false, with the problem noted, if a definition is wrong. */
static bool define_in(struct session *session, struct metrics *metrics)
{
    struct formula_error error;
    for (size_t i = 0; i < session->definitions.n && metrics->n == metrics->n_stored + i; i++)
        if (!derived_define(metrics, session->definitions.at[i], &error))
            return definition_is_bad(session, session->definitions.at[i], &error);
    return true;
}

/* session_view of several databases; a problem of one is one of all. */
static struct view *merged_view(struct session *session, enum projection projection, enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    if (!opened->views[id] && (opened->merged || merge_runs(session, projection)) &&
        define_in(session, &opened->merged->metrics))
        opened->views[id] = merge_views(session, projection, id);
    session->outcome = opened->views[id] ? DONE : FAILED;
    for (size_t i = 0; i < session->n_runs; i++) {
        session->metric_list_is_bad |= session->runs[i]->metric_list_is_bad;
        if (session->runs[i]->outcome == STOPPED)
            session->outcome = STOPPED;
    }
    return opened->views[id];
}

struct view *session_view(struct session *session, enum projection projection, enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    if (session_is_merged(session))
        return merged_view(session, projection, id);
    struct database *db = session_database(session, projection);
    if (!db || opened->views[id])
        return opened->views[id];
    opened->views[id] = view_open(classes[id], db);
    session->outcome = opened->views[id] ? DONE : STOPPED;
    if (opened->views[id])
        sort_as_usual(session, opened->views[id]);
    return opened->views[id];
}

bool session_recursion_is_collapsed(const struct session *session)
{
    for (size_t i = 0; i < session->n_runs; i++)
        if (!session_recursion_is_collapsed(session->runs[i]))
            return false;
    return session_is_merged(session) || session->folds.recursion ||
           strcmp(run_text(session->run, "recursion"), "collapsed") == 0;
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

static struct restriction restriction_of(const struct session *session)
{
    return (struct restriction){session->threads, session->range, session->has_range, session->range_name, session->run};
}

static void put(struct session *session, const struct restriction *restriction)
{
    session->threads = restriction->threads;
    session->range = restriction->range;
    session->has_range = restriction->has_range;
    session->range_name = restriction->range_name;
    session->run = restriction->run;
}

static void name_restriction(struct session *session, const struct database *db)
{
    free(session->title);
    session->title = NULL;
    if (!session->threads && !session->has_range)
        return;
    struct text title = {0};
    text_add(&title, session_title(session, db));
    session_describe_restriction(session, "  ", false, &title);
    session->title = title.at;
}

void session_describe_restriction(const struct session *session, const char *before, bool ascii, struct text *out)
{
    if (session->threads) {
        text_add(out, before);
        thread_set_describe(session->threads, ascii, out);
    }
    if (session->has_range)
        text_printf(out, "%stime: %s", before, session->range_name);
}

/* Unless that is DONE, the restriction is as before. */
static enum outcome change_restriction(struct session *session, enum projection projection,
                                       const struct restriction *restriction)
{
    struct restriction before = restriction_of(session);
    put(session, restriction);
    session->restriction++;
    const struct database *db = session_database(session, projection);
    if (!db) {
        put(session, &before);
        session->restriction--;
        return session->outcome;
    }
    session->times = run_times_of(session->run);
    name_restriction(session, db);
    return DONE;
}

enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set)
{
    struct restriction restriction = restriction_of(session);
    struct thread_set *before = restriction.threads;
    restriction.threads = set;
    enum outcome outcome = change_restriction(session, projection, &restriction);
    thread_set_free(outcome == DONE ? before : set);
    return outcome;
}

const struct timeline *session_timeline(struct session *session)
{
    if (!session->timeline && session->folder)
        session->timeline = timeline_open(session->folder, session->runs_read.at[0]);
    return session->timeline;
}

static void lacks_timeline(const struct session *session)
{
    problem_found(session->folder, "has no time line: measure and analyze it again (without --trace off)");
}

const struct phases *session_phases(struct session *session)
{
    struct database *db = session->phases ? NULL : session_database(session, LOGICAL);
    const struct timeline *timeline = db ? session_timeline(session) : NULL;
    if (timeline && database_nodes(db)) {
        session->phases = mem_alloc(sizeof *session->phases);
        *session->phases = phases_find(db, timeline);
    } else if (!session->phases && !timeline) {
        lacks_timeline(session);
    }
    return session->phases;
}

struct advice session_advice(struct session *session, struct view *view, uint32_t row)
{
    struct advice advice = advice_on(view, row, session->run);
    bool is_whole = row == 0 && !session->has_range && !session->threads && view->class == &topdown_class;
    const struct timeline *timeline = is_whole ? session_timeline(session) : NULL;
    const struct phases *phases = timeline ? session_phases(session) : NULL;
    if (phases)
        findings_name_phases(&advice, phases, timeline->event);
    return advice;
}

/* "1.2 s to 3.4 s": with as many digits as tell them apart from others; the caller frees. */
static char *name_of_range(struct time_range range)
{
    return mem_printf("%.6g s to %.6g s", (double)range.from * 1e-9, (double)range.to * 1e-9);
}

enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name)
{
    const struct timeline *timeline = session_timeline(session);
    if (range && (!timeline || !session->runs_read.at[0])) {
        lacks_timeline(session);
        return FAILED;
    }
    struct restriction restriction = restriction_of(session);
    char *before = restriction.range_name;
    restriction.has_range = range != NULL;
    restriction.range = range ? *range : (struct time_range){0};
    restriction.range_name = !range ? NULL : name ? mem_strdup(name) : name_of_range(*range);
    restriction.run = range ? run_slice(session->runs_read.at[0], timeline, *range) : session->runs_read.at[0];
    if (range)
        vec_push(&session->runs_read, restriction.run);
    enum outcome outcome = change_restriction(session, projection, &restriction);
    free(outcome == DONE ? before : restriction.range_name);
    return outcome;
}

static bool is_asked(const struct asked_range *asked)
{
    return asked->from.is_given || asked->to.is_given || asked->phase;
}

/* Restricts it to a phase. */
static bool take_phase(struct session *session, enum projection projection, unsigned number, char **cause)
{
    const struct phases *phases = session_phases(session);
    if (phases && number > phases->n)
        *cause = mem_printf("there %s %zu phase%s, no phase %u", phases->n == 1 ? "is" : "are", phases->n,
                            phases->n == 1 ? "" : "s", number);
    if (!phases || number > phases->n)
        return false;
    char *range = name_of_range(phases->at[number - 1].range);
    char *name = mem_printf("%s, phase %u of %zu", range, number, phases->n);
    enum outcome outcome = session_set_range(session, projection, &phases->at[number - 1].range, name);
    free(range);
    free(name);
    return outcome == DONE;
}

bool session_take_ranges(struct session *session, enum projection projection, char **cause)
{
    struct time_range range;
    const struct timeline *timeline = is_asked(&session->asked_range) ? session_timeline(session) : NULL;
    for (size_t i = 0; i < session->n_runs; i++)
        if (!session_take_ranges(session->runs[i], projection, cause))
            return false;
    if (!is_asked(&session->asked_range))
        return true;
    if (session->asked_range.phase)
        return take_phase(session, projection, session->asked_range.phase, cause);
    if (timeline && (*cause = asked_range_in(&session->asked_range, timeline, &range)))
        return false;
    return session_set_range(session, projection, &range, NULL) == DONE;
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
    if (session->title)
        return session->title;
    const char *title = run_text(session->run, "title");
    return *title ? title : database_title(db);
}
