/* The files of the time line: timeline.db (lib/trace-format.h), which has all, and trace.db of the v4 format, for
 * viewers that others wrote. Both are made of the same records; no record is held twice but while
 * the block of its thread is written. */
#ifndef HPCPROF_TIME_LINE_FILES_H
#define HPCPROF_TIME_LINE_FILES_H

#include "hpcprof/attribution/traced-nodes.h"
#include "hpcprof/database/traced-threads.h"

/* timeline.db. The nodes are those of the two projections, by thread; both the same if the projections agree. */
void timeline_db_write(const char *path, const struct traced_threads *threads,
                       const struct traced_nodes *logical, const struct traced_nodes *physical,
                       unsigned workers);

/* trace.db of one projection. */
void trace_db_write(const char *path, const struct traced_threads *threads,
                    const struct traced_nodes *nodes, unsigned workers);

#endif
