#include "hpcrun/record/region-chunks.h"

#include "hpcrun/span/span-regions.h"

static bool write_region(struct chunk *chunk, unsigned number, const struct region_sums *region)
{
    chunk_begin(chunk, CHUNK_REGIONS, CHUNK_NO_THREAD);
    chunk_v(chunk, number);
    chunk_str(chunk, region->name);
    chunk_v(chunk, region->times);
    chunk_v(chunk, region->sums.work.time);
    chunk_v(chunk, region->sums.span.time);
    chunk_v(chunk, region->sums.burdened_span.time);
    chunk_v(chunk, region->sums.spawns);
    chunk_v(chunk, region->is_partial ? REGION_PARTIAL : 0);
    return chunk_commit(chunk);
}

bool region_chunks_write(struct chunk *chunk)
{
    struct region_sums region;
    for (unsigned i = 0; span_region_at_end(i, &region); i++)
        if (!write_region(chunk, i, &region))
            return false;
    return true;
}
