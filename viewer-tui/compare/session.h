/* A database as the user opened it: both projections, the run, and the views made so far. Or two
 * of them that are compared, each with a session of its own: then there are only views, of both. */
#ifndef VIEWER_SESSION_H
#define VIEWER_SESSION_H

#include "lib/path.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/threads/thread-set.h"
#include "viewer-tui/tree/view.h"

struct comparison;
struct comparison_options;

enum projection { LOGICAL, PHYSICAL, PROJECTIONS };

enum view_id { TOP_DOWN, BOTTOM_UP, FLAT, VIEWS };

struct opened {
    struct database *db;
    unsigned
        restriction; /* that its values follow: the session's restriction when it was looked at */
    bool is_folded;  /* inlined code is folded, as the session wanted it then */
    struct cct *cct;
    struct comparison *comparison; /* of two databases, once both were opened; NULL */
    struct view *views[VIEWS];
};

struct session {
    char *folder;
    json_t *run; /* NULL when the database has none */
    const char *metric_list;
    VEC(char *) definitions;                /* of derived metrics, as users wrote them */
    const char *usual_metrics, *usual_sort; /* the user's defaults, for databases that have them, if
                                               there is no list; NULL */
    const struct path_rules *rules;         /* where sources are; NULL: where they were */
    enum metric_set set;
    bool metric_list_is_bad;    /* or a definition is: why a database was not opened */
    bool folds_inlined;         /* into the procedures that contain it */
    enum outcome outcome;       /* of the last attempt to make a view or database */
    struct thread_set *threads; /* those that all values are sums over; NULL: all */
    unsigned restriction;       /* counts the changes of it */
    char *title; /* what was run, with which threads, or what is compared; NULL unless
                    there is a set, or two databases are open */
    struct opened opened[PROJECTIONS];          /* db is NULL until it is asked for */
    struct session *sides[SIDES];               /* that are compared; NULL: of one database */
    const struct comparison_options *comparing; /* how; NULL */
};

/* Opens nothing yet but run.json. The metric list (choose.h) may be NULL and must outlive the
 * session. */
struct session *session_open(const char *folder, const char *metric_list);
/* Of two databases that are compared; takes over their sessions. The options must outlive it. */
struct session *session_compare(struct session *left, struct session *right,
                                const struct comparison_options *options);
void session_close(struct session *session);

/* Defines a derived metric (derived.h) in every database that will be opened. */
void session_define(struct session *session, const char *definition);
/* The same in what is open, too. False, with the error and without effect, when it is wrong in that
 * projection, of which a view is open. */
bool session_define_now(struct session *session, enum projection projection, const char *definition,
                        struct formula_error *error);

/* Gives up the derived metric of that name. */
void session_undefine(struct session *session, const char *name);

/* Says which metrics are shown, in all that is open and will be. */
void session_show(struct session *session, enum metric_set set);

/* Says whether inlined code is folded (fold.h), in all that is open and will be. Views made before
 * are gone. */
void session_fold_inlined(struct session *session, bool folds);

static inline bool session_is_of_two(const struct session *session)
{
    return session->sides[0] != NULL;
}

/* Of two databases: what is compared in a projection of which there is a view; NULL of one. */
static inline const struct comparison *session_comparison(const struct session *session,
                                                          enum projection projection)
{
    return session->opened[projection].comparison;
}

/* Whether the database has that projection, of two that are compared both. */
bool session_has_projection(const struct session *session, enum projection projection);

/* The database of a projection, not of two that are compared; NULL, with the problem noted, when it
 * cannot be read or the metric list does not fit, or when the user stopped it (see outcome). */
struct database *session_database(struct session *session, enum projection projection);

/* The view; it is made when it is asked for the first time, which for bottom-up and flat views
 * takes a pass over all contexts. NULL as above. */
struct view *session_view(struct session *session, enum projection projection, enum view_id id);

/* The same view as one of the caller's own, who closes it. */
struct view *session_take_view(struct session *session, enum projection projection,
                               enum view_id id);

/* All values are sums over the threads of the set from now on; NULL: over all. Takes ownership of
 * it. Views made before are gone. FAILED if the projection cannot be read. */
enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set);

/* The threads that a regular expression matches (thread-set.h), for session_restrict. NULL when
 * there are none, or it is no regular expression, with the reason in *cause (which the caller
 * frees); NULL without one when the projection cannot be read. */
struct thread_set *session_matching_threads(struct session *session, enum projection projection,
                                            const char *expression, char **cause);

/* The threads of the processes that ran a program of that name, or path; as above. */
struct thread_set *session_threads_of_program(struct session *session, enum projection projection,
                                              const char *program, char **cause);

/* What titles say behind the projection: ", inlined code folded", or nothing. */
const char *session_folding_words(const struct session *session);

/* The exit status after a view or database could not be made: 2 for bad arguments, else 1. */
int session_exit_status(const struct session *session);

const char *projection_name(enum projection projection);

/* The view of that name, VIEWS when there is none. */
enum view_id view_id_named(const char *name);

/* What was run, and of which threads the values are when not of all, for titles; `db` is that of
 * the view or NULL. */
const char *session_title(const struct session *session, const struct database *db);

#endif
