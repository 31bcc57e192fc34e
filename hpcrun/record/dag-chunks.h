/* The recorded dag (span/dag-nodes.h) in the measurement file. Normal context, at the image's end. */
#ifndef HPCRUN_RECORD_DAG_CHUNKS_H
#define HPCRUN_RECORD_DAG_CHUNKS_H

#include "hpcrun/record/chunk.h"
#include "hpcrun/span/work-span.h"

/* Writes the dag of a program with these sums; after work_span_totals. False if the measurement
 * can't be written. */
bool dag_chunks_write(struct chunk *chunk, const struct span_totals *totals);

#endif
