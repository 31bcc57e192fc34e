/* Databases in which inclusive or exclusive costs are missing.
 *
 * HPCToolkit has written databases without the scope `lex_aware`, and metrics whose costs are not
 * propagated. What each context has of its own follows from the scopes that are there, and the
 * missing ones from that. */
#ifndef VIEWER_COMPLETE_H
#define VIEWER_COMPLETE_H

#include "viewer-tui/db/database.h"

/* Gives all measured metrics of the database inclusive and exclusive costs, in memory, where
 * they have not got them. Costs nothing when they have; otherwise a pass over all contexts. Call
 * after the metrics were chosen. False when the user stopped it (progress.h). */
bool complete_values(struct database *db);

#endif
