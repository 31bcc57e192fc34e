/* What the user opened: a run, or several whose views are merged into one: a comparison, or the losses of a set. Of
 * each run the session has the databases of both projections.
 *
 * This is what a session consists of and what the user chose for all its views. session-databases.h opens databases and
 * makes views, session-restriction.h restricts values to threads and to a piece of time, and
 * session-titles.h has the words for all that. */
#ifndef VIEWER_SESSION_H
#define VIEWER_SESSION_H

#include "lib/path.h"
#include "viewer-tui/advice/run-phases.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/fold.h"
#include "viewer-tui/db/record-sums.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/threads/asked-range.h"
#include "viewer-tui/threads/thread-set.h"
#include "viewer-tui/tree/view.h"

struct comparison_options;
struct merged_run;
struct merged_runs;

enum projection { LOGICAL, PHYSICAL, PROJECTIONS };

enum view_id { TOP_DOWN, BOTTOM_UP, FLAT, VIEWS };

struct session_run {
    char *folder;
    json_t *run;            /* NULL without run.json; of `ranges` (run-slice.h) */
    VEC(json_t *) runs_read; /* run.json, and what was made of it for ranges; databases refer to them */
    struct run_times times; /* of `run` */
    size_t group;           /* side of a comparison; of a set by number of workers, the most first */
    unsigned workers;       /* of a set; else 0 */
    struct timeline *timeline;      /* NULL until it is asked for, and without one */
    struct phases *phases;          /* of the whole run; NULL until they are asked for */
    struct asked_range asked_range; /* as the command line has it; all 0: none */
    time_ranges ranges;   /* the pieces of time that all values are sums over; none: the whole run */
    char *range_name;     /* what titles say of them: "1.2 s to 3.4 s, phase 2 of 4"; NULL: no range */
    unsigned restriction; /* number of changes of session->threads and `ranges` */
    char *title;          /* with a set of threads or a range; else NULL: that of the database */
    struct opened {
        struct database *db;      /* NULL until it is asked for */
        unsigned restriction;     /* that of the run at the time its values were computed */
        struct fold_choice folds; /* session->folds at that time */
    } opened[PROJECTIONS];
};

struct session {
    VEC(struct session_run) runs;           /* those of a group stand together */
    const char *folder;                     /* of the only run; NULL: runs are merged */
    const json_t *run;                      /* the same; NULL without run.json, too */
    const char *metric_list;                /* --metrics; NULL: not given */
    VEC(char *) definitions;                /* owned; of derived metrics (derived.h), as users wrote them */
    const char *usual_metrics, *usual_sort; /* the user's defaults, or NULL */
    const struct path_rules *rules;         /* where sources are now, and whose code is the user's; NULL: none */
    enum metric_set set;
    bool metric_list_is_bad;    /* the metric list or a definition kept a database from opening */
    struct fold_choice folds;   /* contexts that are folded */
    enum outcome outcome;       /* of the last attempt to make a view or open a database */
    struct thread_set *threads; /* the threads that all values are sums over; NULL: all */
    char *title;                /* of merged runs; else NULL */
    const struct comparison_options *comparing; /* NULL unless it is a comparison, of group 0 with group 1 */
    struct merged_runs *merged[PROJECTIONS];    /* NULL until a view is asked for, and of one run */
    struct view *views[PROJECTIONS][VIEWS];     /* those made so far */
    struct advice *advice[PROJECTIONS]; /* on the whole of one run (session_advice); NULL until it is asked for */
};

/* A session of one run. Reads run.json only. The metric list (metric-selection.h) may be NULL and must outlive the
 * session. */
struct session *session_open(const char *folder, const char *metric_list);

/* A session without runs, to merge those that are added: first all of group 0, then of 1 ... `workers`: of a set. It
 * has their losses, unless `comparing` is set. */
struct session *session_new(const char *metric_list);
void session_add_run(struct session *session, const char *folder, size_t group, unsigned workers);

void session_close(struct session *session);

/* Closes the last run. */
void session_drop_last_run(struct session *session);

/* Closes the views of a projection, and forgets its advice, before its values or contexts change. */
void session_forget_views(struct session *session, int projection);

/* Sets the user's defaults, used for what a database has of them if there is no metric list. Either
 * may be NULL. */
void session_set_defaults(struct session *session, const char *metrics, const char *sort);

/* Defines a derived metric (derived.h) in the open databases, and in every one that will be opened. False, with the
 * error and without effect, if the definition is wrong in that projection, of which a view is open. */
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
    return !session->folder;
}

/* Whether it has the losses of a set of runs. */
static inline bool session_has_losses(const struct session *session)
{
    return session_is_merged(session) && !session_is_comparison(session);
}

/* The exit status after a view or database could not be made: 2 for bad arguments, else 1. */
int session_exit_status(const struct session *session);

#endif
