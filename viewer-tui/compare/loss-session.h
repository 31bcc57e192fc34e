/* The session of a set of runs: its views have their losses (losses.h). */
#ifndef VIEWER_LOSS_SESSION_H
#define VIEWER_LOSS_SESSION_H

#include "viewer-tui/compare/session.h"

/* n > 0. Takes ownership of the sessions, not of the arrays. `title`: of the program. */
struct session *session_of_losses(struct session *const *runs, const unsigned *workers, size_t n,
                                  const char *title);

#endif
