/* Databases in which inclusive or exclusive costs are missing.
 *
 * HPCToolkit has written databases without the scope `lex_aware`, and metrics whose costs are not
 * propagated. What each context has of its own follows from the scopes that are there, and the
 * missing ones from that. */
#ifndef VIEWER_COMPLETE_H
#define VIEWER_COMPLETE_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"

/* Computes the inclusive and exclusive costs that measured metrics of the database lack, in memory.
 * Free if nothing is missing, else a pass over all contexts. Call it after the metrics were chosen.
 * DONE or STOPPED. */
enum outcome complete_values(struct database *db);

#endif
