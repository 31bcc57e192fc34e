/* The databases of a session's runs, and its views. Databases are opened when they are first asked for, with the metrics
 * that the user chose, and brought up to date when what values are restricted to, or what is folded, has changed. */
#ifndef VIEWER_SESSION_DATABASES_H
#define VIEWER_SESSION_DATABASES_H

#include "viewer-tui/compare/session.h"

/* Whether the database has that projection; of several all of them. */
bool session_has_projection(const struct session *session, enum projection projection);

/* The database of a projection, of one run. NULL, with the problem noted, if it cannot be
 * read or the metric list does not fit, or if the user stopped (see session->outcome). */
struct database *session_database(struct session *session, enum projection projection);

/* The same for any run of the session. */
struct database *session_run_database(struct session *session, struct session_run *run, enum projection projection);

/* Removes the last run if its database cannot be read. */
void session_drop_unreadable(struct session *session, enum projection projection);

/* Notes that a definition of a derived metric is wrong: --derive. Returns false. */
bool session_definition_is_bad(struct session *session, const char *definition, const struct formula_error *error);

/* The view of the only run, or merged of a view of each run, made at the first call: for bottom-up and flat views that
 * takes a pass over all contexts. NULL as in session_database. */
struct view *session_view(struct session *session, enum projection projection, enum view_id id);

#endif
