/* Advice on what a session shows. */
#ifndef VIEWER_SESSION_ADVICE_H
#define VIEWER_SESSION_ADVICE_H

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/advice/advice.h"
#include "viewer-tui/compare/session.h"

/* Advice on the whole of a top-down view of a session of one run, found once. If that is the whole run, and its database
 * has a time line, findings name the phases in which they are concentrated. NULL if the user stopped it; valid until the
 * views are closed. Its facts have no places. */
const struct advice *session_advice(struct session *session, struct view *view);

/* Describes that advice, or on a row of any view, or of a comparison what changed in the row; nothing of the losses of a set. *title: of such a
 * page; *is_any: whether there is any. If the user stopped it, all this is unknown. */
enum outcome session_describe_advice(struct session *session, struct view *view, uint32_t row,
                                     struct advice_lines *lines, const char **title, bool *is_any);

#endif
