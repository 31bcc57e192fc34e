#include "hpcrun/tree/segments.h"

#include <string.h>

void *segments_add(struct segments *s)
{
    unsigned segment = segment_of(s->count);
    if (segment >= SEGMENT_COUNT)
        return NULL;
    if (!s->at[segment])
        s->at[segment] = sys_pages(segment_length(segment) * s->item_size);
    if (!s->at[segment])
        return NULL;
    return segments_item(s, s->count++);
}

void segments_clear(struct segments *s)
{
    uint32_t left = s->count;
    for (unsigned segment = 0; left > 0; segment++) {
        size_t used = left < segment_length(segment) ? left : segment_length(segment);
        memset(s->at[segment], 0, used * s->item_size);
        left -= (uint32_t)used;
    }
    s->count = 0;
}

void segments_free(struct segments *s)
{
    for (unsigned segment = 0; segment < SEGMENT_COUNT; segment++) {
        sys_pages_free(s->at[segment], segment_length(segment) * s->item_size);
        s->at[segment] = NULL;
    }
    s->count = 0;
}
