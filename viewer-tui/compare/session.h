/* What the user opened: a database in both projections, with its run.json and the views made so
 * far; or several databases, each with a session of its own, which has only merged views: a comparison, or the losses
 * of a set of runs. */
#ifndef VIEWER_SESSION_H
#define VIEWER_SESSION_H

#include "lib/path.h"
#include "viewer-tui/advice/phases.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/fold.h"
#include "viewer-tui/db/record-sums.h"
#include "viewer-tui/db/run-times.h"
#include "viewer-tui/threads/asked-range.h"
#include "viewer-tui/threads/thread-set.h"
#include "viewer-tui/tree/view.h"

struct advice;
struct comparison;
struct comparison_options;
struct merged_runs;

enum projection { LOGICAL, PHYSICAL, PROJECTIONS };

enum view_id { TOP_DOWN, BOTTOM_UP, FLAT, VIEWS };

/* A projection that was opened. */
struct opened {
    struct database *db;  /* NULL until it is asked for; always for a comparison */
    unsigned restriction; /* session->restriction at the time its values were computed */
    struct fold_choice folds; /* session->folds at that time */
    struct merged_runs *merged;    /* of the databases of all runs; NULL until it is asked for, and for one database */
    struct comparison *comparison; /* that `merged` belongs to; NULL: none */
    struct view *views[VIEWS];
};

struct session {
    char *folder;                           /* NULL of a comparison */
    json_t *run;                            /* NULL without run.json, and of a comparison; of `range` (run-slice.h) */
    struct run_times times;                 /* of `run` */
    VEC(json_t *) runs_read;                /* run.json, and what was made of it for ranges; databases refer to them */
    struct timeline *timeline;              /* NULL until it is asked for, and without one */
    struct phases *phases;                  /* NULL until they are asked for */
    const char *metric_list;                /* --metrics; NULL: not given */
    VEC(char *) definitions;                /* of derived metrics, as users wrote them */
    const char *usual_metrics, *usual_sort; /* the user's defaults, or NULL */
    const struct path_rules *rules;         /* where sources are now; NULL: where they were */
    enum metric_set set;
    bool metric_list_is_bad;    /* the metric list or a definition kept a database from opening */
    struct fold_choice folds;   /* contexts that are folded */
    enum outcome outcome;       /* of the last attempt to make a view or open a database */
    struct thread_set *threads; /* the threads that all values are sums over; NULL: all */
    struct asked_range asked_range; /* as the command line has it; all 0: none */
    struct time_range range;    /* the piece of time that all values are sums over, if has_range */
    bool has_range;
    char *range_name;           /* what titles say of it: "1.2 s to 3.4 s, phase 2 of 4"; NULL: no range */
    unsigned restriction;       /* number of changes of `threads` and `range` */
    char *title; /* of a comparison, or with a set of threads or a range; else NULL: that of the database */
    struct opened opened[PROJECTIONS];
    /* Of several databases; else NULL and 0. */
    struct session **runs; /* those of the left side of a comparison first; of losses those with the most workers */
    unsigned *groups;      /* by run: the side of a comparison; of losses the number of workers */
    size_t n_runs;
    struct session *sides[SIDES];               /* the first run of each side of a comparison; else NULL */
    const struct comparison_options *comparing; /* NULL unless it is a comparison */
};

/* Reads run.json only. The metric list (metric-selection.h) may be NULL and must outlive the
 * session. */
struct session *session_open(const char *folder, const char *metric_list);

/* Compares runs[0 .. n_left-1] with the following n_right; takes ownership of the sessions, not of the array. The
 * options must outlive the result. */
struct session *session_compare(struct session *const *runs, size_t n_left, size_t n_right,
                                const struct comparison_options *options);

/* The losses of a set of runs (losses.h). n > 0. Takes ownership of the sessions, not of the arrays. `title`: of the
 * program. */
struct session *session_of_losses(struct session *const *runs, const unsigned *workers, size_t n, const char *title);

void session_close(struct session *session);

/* Sets the user's defaults, used for what a database has of them if there is no metric list. Either
 * may be NULL. */
void session_set_defaults(struct session *session, const char *metrics, const char *sort);

/* Sets where sources are now, and whose code is the user's, before a database is opened. The rules must outlive the
 * session. */
void session_set_rules(struct session *session, const struct path_rules *rules);

/* Defines a derived metric (derived.h) in every database that will be opened. */
void session_define(struct session *session, const char *definition);

/* Defines it in the open databases, too. False, with the error and without effect, if the
 * definition is wrong in that projection, of which a view is open. */
bool session_define_now(struct session *session, enum projection projection, const char *definition,
                        struct formula_error *error);

/* Removes the derived metric of that name. */
void session_undefine(struct session *session, const char *name);

/* Chooses which metrics are shown, in all databases. */
void session_show(struct session *session, enum metric_set set);

/* Chooses what is folded (fold.h), in all databases. Closes all views. */
void session_fold(struct session *session, struct fold_choice folds);

static inline bool session_is_comparison(const struct session *session)
{
    return session->comparing != NULL;
}

/* Whether its views are made of several databases. */
static inline bool session_is_merged(const struct session *session)
{
    return session->n_runs > 0;
}

/* Whether it has the losses of a set of runs. */
static inline bool session_has_losses(const struct session *session)
{
    return session_is_merged(session) && !session_is_comparison(session);
}

/* The comparison in a projection of which there is a view; NULL of one database. */
static inline const struct comparison *session_comparison(const struct session *session,
                                                          enum projection projection)
{
    return session->opened[projection].comparison;
}

/* Whether the database has that projection; of several all of them. */
bool session_has_projection(const struct session *session, enum projection projection);

/* The database of a projection, not of a comparison. NULL, with the problem noted, if it cannot be
 * read or the metric list does not fit, or if the user stopped (see session->outcome). */
struct database *session_database(struct session *session, enum projection projection);

/* The view, made at the first call: for bottom-up and flat views that takes a pass over all
 * contexts. NULL as above. */
struct view *session_view(struct session *session, enum projection projection, enum view_id id);

/* Restricts all values to the threads of a set (NULL: all), of which it takes ownership. Closes all
 * views. FAILED if the projection, which is opened first, cannot be read; STOPPED if the user
 * stopped: then nothing has changed. */
enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set);

/* The time line; NULL if the database has none, or, with the problem noted, if it is damaged. */
const struct timeline *session_timeline(struct session *session);

/* The phases of the whole run; NULL as session_timeline, or if the logical projection cannot be read. */
const struct phases *session_phases(struct session *session);

/* Advice on a row of a view of the session; on the whole run with the phases in which findings are concentrated. The
 * view must outlive it; the caller frees. */
struct advice session_advice(struct session *session, struct view *view, uint32_t row);

/* Restricts all values, and session->run, to a piece of time (NULL: the whole run). The set of threads stays. `name`, for
 * titles, may be NULL: then it is made of the range. Otherwise as session_restrict; FAILED, with the problem noted, also
 * if the database has no time line. */
enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name);

/* Restricts it to session->asked_range, and of several databases each to its own. False, with the reason in *cause (which
 * the caller frees), or NULL if a projection cannot be read. */
bool session_take_ranges(struct session *session, enum projection projection, char **cause);

/* Adds "threads: worker (2 of 4)" and "time: 1.2 s to 3.4 s", as far as values are restricted, each after `before`. */
void session_describe_restriction(const struct session *session, const char *before, bool ascii, struct text *out);

/* The threads that a regular expression matches (thread-set.h), for session_restrict. NULL if there
 * are none or it is invalid, with the reason in *cause (which the caller frees); NULL without one
 * if the projection cannot be read. */
struct thread_set *session_matching_threads(struct session *session, enum projection projection,
                                            const char *expression, char **cause);

/* The threads of the processes that ran the program of that name or path; as above. */
struct thread_set *session_threads_of_program(struct session *session, enum projection projection,
                                              const char *program, char **cause);

/* Whether the viewer or hpcprof collapsed the recursion, of a comparison in both databases. */
bool session_recursion_is_collapsed(const struct session *session);

/* What titles say after the projection: ", inlined code folded", ", recursion collapsed", both in
 * this order, or "". */
const char *session_folding_words(const struct session *session);

/* The exit status after a view or database could not be made: 2 for bad arguments, else 1. */
int session_exit_status(const struct session *session);

const char *projection_name(enum projection projection);

/* The command that was run, and the threads and the piece of time if values are restricted to some, for titles. `db` is
 * that of the view, or NULL. */
const char *session_title(const struct session *session, const struct database *db);

#endif
