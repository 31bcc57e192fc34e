/* The program's named regions (span/span-regions.h) in the measurement file. Normal context, at the
 * image's end. */
#ifndef HPCRUN_RECORD_REGION_CHUNKS_H
#define HPCRUN_RECORD_REGION_CHUNKS_H

#include "hpcrun/record/chunk-writer.h"

/* Writes a chunk for each region; after work_span_totals. False if the measurement can't be written. */
bool region_chunks_write(struct chunk *chunk);

#endif
