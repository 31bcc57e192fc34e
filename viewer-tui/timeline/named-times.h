/* When a part of the program ran: a region that it names itself, or a procedure of its call paths. */
#ifndef VIEWER_NAMED_TIMES_H
#define VIEWER_NAMED_TIMES_H

#include "viewer-tui/db/time-ranges.h"
#include "viewer-tui/timeline/place-scopes.h"
#include "viewer-tui/timeline/thread-regions.h"

/* The time in which any thread was in a region of that name. If there is none: in which a record of any thread is in a
 * procedure whose name matches it as a regular expression (pattern.h), or in what that calls. Both can be empty; then
 * *cause says what there is, and the caller frees it. */
time_ranges named_times_find(const thread_regions *regions, const struct timeline *timeline,
                             const struct place_scopes *scopes, const char *name, char **cause);

#endif
