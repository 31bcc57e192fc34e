/* Completes databases that lack inclusive or exclusive costs.
 *
 * Some versions of HPCToolkit wrote databases without the scope `lex_aware`, or metrics whose costs
 * are not propagated. The costs of each context alone follow from the scopes that exist, and the
 * missing scopes follow from these. */
#ifndef VIEWER_COMPLETE_H
#define VIEWER_COMPLETE_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"

/* Computes the inclusive and exclusive costs that measured metrics of the database lack, in memory.
 * Free if nothing is missing, else a pass over all contexts. Call it after the metrics were chosen.
 * DONE or STOPPED. */
enum outcome complete_values(struct database *db);

#endif
