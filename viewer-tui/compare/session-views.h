/* The views of a session: of its only run, or merged of a view of each run. */
#ifndef VIEWER_SESSION_VIEWS_H
#define VIEWER_SESSION_VIEWS_H

#include "viewer-tui/compare/session.h"

/* The view, made at the first call: for bottom-up and flat views that takes a pass over all
 * contexts. NULL as in session_database. */
struct view *session_view(struct session *session, enum projection projection, enum view_id id);

#endif
