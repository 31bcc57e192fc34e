#include "viewer-tui/compare/session.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/losses.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/metrics/derived.h"
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
    session->times = run_times_of(session->run);
    return session;
}

struct session *session_compare(struct session *left, struct session *right,
                                const struct comparison_options *options)
{
    assert(!session_is_comparison(left) && !session_is_comparison(right));
    struct session *session = mem_alloc(sizeof *session);
    session->sides[0] = left;
    session->sides[1] = right;
    session->comparing = options;
    session->set = left->set;
    return session;
}

/* The i-th session of which this one shows the databases; NULL: there are no more. */
static struct session *member(const struct session *session, size_t i)
{
    if (session_is_comparison(session))
        return i < SIDES ? session->sides[i] : NULL;
    return i < session->n_runs ? session->runs[i] : NULL;
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
        comparison_free(session->opened[p].comparison);
        losses_free(session->opened[p].losses);
        if (session->opened[p].db)
            fold_undo(session->opened[p].db);
        database_close(session->opened[p].db);
    }
    for (size_t i = 0; member(session, i); i++)
        session_close(member(session, i));
    free(session->runs);
    free(session->run_workers);
    thread_set_free(session->threads);
    free(session->title);
    for (size_t i = 0; i < session->definitions.n; i++)
        free(session->definitions.at[i]);
    vec_free(&session->definitions);
    json_decref(session->run);
    free(session->folder);
    free(session);
}

void session_set_defaults(struct session *session, const char *metrics, const char *sort)
{
    session->usual_metrics = metrics;
    session->usual_sort = sort;
    for (int side = 0; session_is_comparison(session) && side < SIDES; side++)
        session->sides[side]->usual_metrics = metrics; /* losses have metrics of their own */
}

void session_set_rules(struct session *session, const struct path_rules *rules)
{
    session->rules = rules;
    for (size_t i = 0; member(session, i); i++)
        member(session, i)->rules = rules;
}

void session_define(struct session *session, const char *definition)
{
    vec_push(&session->definitions, mem_strdup(definition));
}

/* The metrics of the projection's views; NULL if it is not open. */
static struct metrics *metrics_of(struct session *session, int projection)
{
    struct opened *opened = &session->opened[projection];
    if (opened->comparison)
        return &opened->comparison->metrics;
    if (opened->losses)
        return &opened->losses->metrics;
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

/* Removes a definition from the list. */
static void forget_definition(struct session *session, const char *definition)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->definitions.n; i++) {
        char *other = session->definitions.at[i];
        if (strcmp(other, definition) == 0)
            free(other);
        else
            session->definitions.at[kept++] = other;
    }
    session->definitions.n = kept;
}

void session_undefine(struct session *session, const char *name)
{
    char *given_up = mem_strdup(name);
    for (int p = 0; p < PROJECTIONS; p++) {
        struct metrics *metrics = metrics_of(session, p);
        size_t metric = metrics ? metrics_find(metrics, given_up) : 0;
        if (!metrics || metric == metrics->n || !metric_derivation(&metrics->at[metric]))
            continue;
        forget_definition(session, metrics->at[metric].derived->text);
        derived_give_up(metrics, metric);
    }
    free(given_up);
}

void session_show(struct session *session, enum metric_set set)
{
    session->set = set;
    for (int side = 0; session_is_comparison(session) && side < SIDES; side++)
        session_show(session->sides[side], set);
    for (int p = 0; p < PROJECTIONS; p++)
        if (metrics_of(session, p))
            metrics_of(session, p)->set = set;
}

void session_fold(struct session *session, struct fold_choice folds)
{
    session->folds = folds;
    for (int p = 0; p < PROJECTIONS; p++)
        forget_views(&session->opened[p]);
    for (size_t i = 0; member(session, i); i++)
        session_fold(member(session, i), folds);
}

/* The folder of a projection; the caller frees. */
static char *projection_folder(const struct session *session, enum projection projection)
{
    const char *below = projection == PHYSICAL ? "/" V4_PHYSICAL_FOLDER : "";
    return mem_printf("%s%s", session->folder, below);
}

bool session_has_projection(const struct session *session, enum projection projection)
{
    size_t n = 0;
    while (member(session, n) && session_has_projection(member(session, n), projection))
        n++;
    if (n > 0 || member(session, 0))
        return !member(session, n);
    char *folder = projection_folder(session, projection);
    char *path = mem_printf("%s/%s", folder, V4_META_FILE);
    bool exists = access(path, F_OK) == 0;
    free(path);
    free(folder);
    return exists;
}

static bool definition_is_bad(struct session *session, const char *definition,
                              const struct formula_error *error)
{
    session->metric_list_is_bad = true;
    problem_found("--derive", "'%s': %s, at character %zu", definition, error->what, error->at + 1);
    return false;
}

static bool add_derived_metrics(struct session *session, struct database *db)
{
    struct formula_error error;
    for (size_t i = 0; i < session->definitions.n; i++)
        if (!derived_add(&db->metrics, session->definitions.at[i], &error))
            return definition_is_bad(session, session->definitions.at[i], &error);
    return true;
}

static bool settle_derived_metrics(struct session *session, struct database *db)
{
    struct formula_error error;
    size_t metric;
    return derived_settle(&db->metrics, &metric, &error) ||
           definition_is_bad(session, db->metrics.at[metric].derived->text, &error);
}

/* Chooses the metrics to show; false, with the problem noted, if that leaves none. */
static bool settle_metrics(struct session *session, struct database *db)
{
    choose_complete(db, session->run);
    if (!add_derived_metrics(session, db))
        return false;
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
    if (!settle_derived_metrics(session, db))
        return false;
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
    session->outcome = db ? (database_nodes(db) ? DONE : STOPPED) : FAILED;
    if (session->outcome == STOPPED) {
        database_close(db);
        db = NULL;
    }
    return db;
}

static void follow_folding(struct opened *opened, struct fold_choice folds)
{
    if (folds.inlined || folds.recursion)
        fold_nodes(opened->db, folds);
    opened->folds = folds;
}

/* Restricts the values to the session's threads, and folds what is to be folded. */
static enum outcome follow_restriction(struct session *session, struct opened *opened)
{
    bool is_restricted = opened->restriction == session->restriction;
    if (is_restricted && fold_choice_is_same(opened->folds, session->folds))
        return DONE;
    fold_undo(opened->db);
    enum outcome outcome = is_restricted ? DONE : database_restrict(opened->db, session->threads);
    if (outcome != DONE) {
        follow_folding(opened, opened->folds);
        return outcome;
    }
    follow_folding(opened, session->folds);
    forget_views(opened);
    opened->restriction = session->restriction;
    return DONE;
}

struct database *session_database(struct session *session, enum projection projection)
{
    assert(!member(session, 0));
    struct opened *opened = &session->opened[projection];
    if (!opened->db)
        opened->db = open_projection(session, projection);
    if (opened->db)
        session->outcome = follow_restriction(session, opened);
    return session->outcome == DONE ? opened->db : NULL;
}

bool session_define_in(struct session *session, struct metrics *metrics)
{
    struct formula_error error;
    for (size_t i = 0; i < session->definitions.n && metrics->n == metrics->n_stored + i; i++)
        if (!derived_define(metrics, session->definitions.at[i], &error))
            return definition_is_bad(session, session->definitions.at[i], &error);
    return true;
}

static void sort_as_usual(const struct session *session, struct view *view)
{
    struct sorting sorting = view->sorting;
    if (session->usual_sort && choose_sorting(view->metrics, session->usual_sort, &sorting) &&
        metric_is_measured(&view->metrics->at[sorting.metric]))
        view_sort(view, sorting);
}

/* "xz -9 [before] and [after]"; the caller frees. */
static char *compared_title(const struct session *session, const struct database *const dbs[SIDES])
{
    const char *left = session_title(session->sides[0], dbs[0]);
    const char *right = session_title(session->sides[1], dbs[1]);
    char *const *names = session->comparing->names;
    bool is_same = strcmp(left, right) == 0;
    return mem_printf("%s [%s] and %s%s[%s]", left, names[0], is_same ? "" : right,
                      is_same ? "" : " ", names[1]);
}

/* The comparison of a projection. NULL, with the problem noted, if one database cannot be read or
 * they have no metric in common, or if the user stopped. */
static struct comparison *open_comparison(struct session *session, enum projection projection)
{
    struct compared_run runs[SIDES];
    for (int side = 0; side < SIDES; side++) {
        runs[side].run = session->sides[side]->run;
        runs[side].db = session_database(session->sides[side], projection);
        if (!runs[side].db)
            return NULL;
    }
    bool have_programs = runs[0].db->programs.n > 1 || runs[1].db->programs.n > 1;
    for (int side = 0; side < SIDES; side++)
        session->sides[side]->opened[projection].db->programs.are_compared = have_programs;
    struct comparison *comparison = comparison_new(runs, session->comparing);
    if (metrics_n_shown(&comparison->metrics) == 0) {
        char *others = comparison_only_in_one(comparison);
        problem_found(session->sides[1]->folder, "has no metric in common with %s.%s",
                      session->sides[0]->folder, others);
        free(others);
        comparison_free(comparison);
        return NULL;
    }
    if (!session->title)
        session->title =
            compared_title(session, (const struct database *[SIDES]){runs[0].db, runs[1].db});
    return comparison;
}

/* Takes a view of each side for the caller; false if one of them cannot be made. */
static bool take_sides(struct session *session, enum projection projection, enum view_id id,
                       struct view *views[SIDES])
{
    for (int side = 0; side < SIDES; side++) {
        views[side] = session_take_view(session->sides[side], projection, id);
        if (!views[side]) {
            if (side > 0)
                view_close(views[0]);
            return false;
        }
    }
    return true;
}

static struct view *open_compared_view(struct session *session, enum projection projection,
                                       enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    struct view *views[SIDES];
    if (!opened->comparison)
        opened->comparison = open_comparison(session, projection);
    if (!opened->comparison || !session_define_in(session, &opened->comparison->metrics) ||
        !take_sides(session, projection, id, views))
        return NULL;
    struct view *view = comparison_view(opened->comparison, views);
    sort_as_usual(session, view);
    return view;
}

/* session_view of a comparison; a problem of one database is one of both. */
static struct view *compared_view(struct session *session, enum projection projection,
                                  enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    if (!opened->views[id])
        opened->views[id] = open_compared_view(session, projection, id);
    session->outcome = opened->views[id] ? DONE : FAILED;
    for (int side = 0; side < SIDES; side++) {
        session->metric_list_is_bad |= session->sides[side]->metric_list_is_bad;
        if (session->sides[side]->outcome == STOPPED)
            session->outcome = STOPPED;
    }
    return opened->views[id];
}

/* session_view of losses. */
static struct view *losses_in_view(struct session *session, enum projection projection,
                                   enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    session->outcome = FAILED;
    if (!opened->views[id])
        opened->views[id] = session->open_losses(session, projection, id);
    if (opened->views[id])
        session->outcome = DONE;
    return opened->views[id];
}

struct view *session_view(struct session *session, enum projection projection, enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    if (session_is_comparison(session))
        return compared_view(session, projection, id);
    if (session_has_losses(session))
        return losses_in_view(session, projection, id);
    struct database *db = session_database(session, projection);
    if (!db || opened->views[id])
        return opened->views[id];
    opened->views[id] = view_open(classes[id], db);
    session->outcome = opened->views[id] ? DONE : STOPPED;
    if (opened->views[id])
        sort_as_usual(session, opened->views[id]);
    return opened->views[id];
}

struct view *session_take_view(struct session *session, enum projection projection, enum view_id id)
{
    struct view *view = session_view(session, projection, id);
    session->opened[projection].views[id] = NULL;
    return view;
}

bool session_recursion_is_collapsed(const struct session *session)
{
    if (session_is_comparison(session))
        return session_recursion_is_collapsed(session->sides[0]) &&
               session_recursion_is_collapsed(session->sides[1]);
    return session->folds.recursion ||
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

enum view_id view_id_named(const char *name)
{
    int id = 0;
    while (id < VIEWS && strcmp(classes[id]->name, name) != 0)
        id++;
    return (enum view_id)id;
}

enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set)
{
    struct thread_set *before = session->threads;
    session->threads = set;
    session->restriction++;
    const struct database *db = session_database(session, projection);
    if (!db) {
        session->threads = before;
        session->restriction--;
        thread_set_free(set);
        return session->outcome;
    }
    thread_set_free(before);
    free(session->title);
    session->title = NULL;
    if (set) {
        struct text title = {0};
        text_printf(&title, "%s  ", session_title(session, db));
        thread_set_describe(set, false, &title);
        session->title = title.at;
    }
    return DONE;
}

struct thread_set *session_matching_threads(struct session *session, enum projection projection,
                                            const char *expression, char **cause)
{
    const struct database *db = session_database(session, projection);
    if (!db)
        return NULL;
    struct threads threads;
    threads_read(&threads, db, session->run);
    struct thread_set *set = thread_set_matching(&threads, session->run, expression, cause);
    threads_free(&threads);
    return set;
}

struct thread_set *session_threads_of_program(struct session *session, enum projection projection,
                                              const char *program, char **cause)
{
    const struct database *db = session_database(session, projection);
    if (!db)
        return NULL;
    struct threads threads;
    threads_read(&threads, db, session->run);
    struct thread_set *set = thread_set_of_program(&threads, session->run, program, cause);
    threads_free(&threads);
    return set;
}

const char *session_title(const struct session *session, const struct database *db)
{
    if (session->title)
        return session->title;
    const char *title = run_text(session->run, "title");
    return *title ? title : database_title(db);
}
