#include "hpcrun/tree/segments.h"

#include "hpcrun/base/shared-pages.h"

#include <string.h>

static size_t bytes_of(const struct segments *s, unsigned segment)
{
    return segment_length(s, segment) * s->item_size;
}

static size_t used_items(const struct segments *s, unsigned segment)
{
    size_t first = segment_length(s, segment) - segment_length(s, 0);
    size_t used = s->count > first ? s->count - first : 0;
    return used < segment_length(s, segment) ? used : segment_length(s, segment);
}

static uint8_t *share_segment(struct segments *s, unsigned segment, struct arena_segments *offsets)
{
    uint8_t *at = shared_pages(bytes_of(s, segment));
    if (at) {
        s->shared |= 1u << segment;
        offsets->at[segment] = shared_pages_offset(at);
    }
    return at;
}

static uint8_t *new_segment(struct segments *s, unsigned segment)
{
    uint8_t *at = s->offsets ? share_segment(s, segment, s->offsets) : NULL;
    if (at)
        return at;
    s->offsets = NULL;
    return sys_pages(bytes_of(s, segment));
}

void *segments_add(struct segments *s)
{
    unsigned segment = segment_of(s, s->count);
    if (segment >= SEGMENT_COUNT)
        return NULL;
    if (!s->at[segment])
        s->at[segment] = new_segment(s, segment);
    if (!s->at[segment])
        return NULL;
    return segments_item(s, s->count++);
}

static void free_segment(struct segments *s, unsigned segment)
{
    if (s->shared >> segment & 1)
        shared_pages_free(s->at[segment], bytes_of(s, segment));
    else
        sys_pages_free(s->at[segment], bytes_of(s, segment));
    s->at[segment] = NULL;
    s->shared &= ~(1u << segment);
}

static bool move_segment(struct segments *s, unsigned segment, struct arena_segments *offsets)
{
    uint8_t *from = s->at[segment], *to = share_segment(s, segment, offsets);
    if (!to)
        return false;
    memcpy(to, from, used_items(s, segment) * s->item_size);
    sys_pages_free(from, bytes_of(s, segment));
    s->at[segment] = to;
    return true;
}

bool segments_share(struct segments *s, struct arena_segments *offsets)
{
    for (unsigned segment = 0; segment < SEGMENT_COUNT; segment++)
        if (s->at[segment] && !(s->shared >> segment & 1) && !move_segment(s, segment, offsets))
            return false;
    s->offsets = offsets;
    return true;
}

void segments_clear(struct segments *s)
{
    for (unsigned segment = 0; segment < SEGMENT_COUNT && used_items(s, segment) > 0; segment++)
        memset(s->at[segment], 0, used_items(s, segment) * s->item_size);
    s->count = 0;
}

void segments_free(struct segments *s)
{
    for (unsigned segment = 0; segment < SEGMENT_COUNT; segment++)
        if (s->at[segment])
            free_segment(s, segment);
    s->count = 0;
}

void segments_forget_shared(struct segments *s)
{
    for (unsigned segment = 0; segment < SEGMENT_COUNT; segment++)
        if (s->shared >> segment & 1)
            s->at[segment] = NULL;
    s->shared = 0;
    s->offsets = NULL;
    s->count = 0;
}
