/* The databases of a session's runs: opened when they are first asked for, with the metrics that the user chose, and
 * brought up to date when what values are restricted to, or what is folded, has changed since. */
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

#endif
