/* Where a process ran: its rank in a parallel job, and its host where there are several. */
#ifndef VIEWER_PLACE_H
#define VIEWER_PLACE_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/run.h"

/* Whether the processes of a run were on more than one host. */
bool place_hosts_differ(const json_t *run);

/* -1 without a rank. */
int64_t place_rank(const json_t *process);

/* Appends "rank 3 on node2: ", or as much of it as there is. */
void place_add(const json_t *process, bool with_host, bool ascii, struct text *out);

#endif
