#include "hpcrun/outside/ring-reader.h"

#include <stdbool.h>
#include <string.h>

void ring_begin(struct ring *ring)
{
    ring->next = ring->page->data_tail;
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

void ring_end(struct ring *ring)
{
    __atomic_store_n(&ring->page->data_tail, ring->next, __ATOMIC_RELEASE);
}

/* The kernel writes no other ones. */
static bool is_sound(const struct ring *ring, size_t size)
{
    return size >= sizeof(struct perf_event_header) && size % 8 == 0 && size <= ring->head - ring->next;
}

const struct perf_event_header *ring_first(struct ring *ring)
{
    static _Alignas(8) uint8_t copy[UINT16_MAX + 1];
    const uint8_t *data = (const uint8_t *)ring->page + RING_PAGE;
    if (ring->next >= ring->head)
        return NULL;
    uint64_t at = ring->next & (ring->bytes - 1);
    const struct perf_event_header *header = (const void *)(data + at);
    size_t size = header->size, first = ring->bytes - at;
    if (!is_sound(ring, size)) {
        ring->next = ring->head;
        return NULL;
    }
    if (size <= first)
        return header;
    memcpy(copy, header, first);
    memcpy(copy + first, data, size - first);
    return (const void *)copy;
}
