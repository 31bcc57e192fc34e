#include "hpcrun/outside/ring-reader.h"

#include "hpcrun/outside/perf-records.h"

#include <string.h>

static uint64_t head_of(const struct ring *ring)
{
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static const uint8_t *data_of(const struct ring *ring)
{
    return (const uint8_t *)ring->page + RING_PAGE;
}

void ring_begin(struct ring *ring)
{
    ring->next = ring->page->data_tail;
    ring->head = head_of(ring);
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
    const uint8_t *data = data_of(ring);
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

/* ---- the youngest sample ---- */

static void copy_from(const struct ring *ring, uint64_t position, void *to, size_t size)
{
    uint64_t at = position & (ring->bytes - 1);
    size_t first = size < ring->bytes - at ? size : ring->bytes - at;
    memcpy(to, data_of(ring) + at, first);
    memcpy((uint8_t *)to + first, data_of(ring), size - first);
}

/* sample_instant.stack_end. */
static uint64_t end_of_copy(const struct ring *ring, uint64_t position, const struct sample_record *fields)
{
    struct {
        uint64_t abi, registers[SAMPLED_REGISTER_COUNT], bytes;
    } part;
    uint64_t valid;
    copy_from(ring, position + sizeof *fields + fields->chain_length * sizeof(uint64_t), &part, sizeof part);
    copy_from(ring, position + fields->header.size - sizeof valid, &valid, sizeof valid);
    bool has_all = part.abi != PERF_SAMPLE_REGS_ABI_64 || valid < part.bytes;
    return has_all ? 0 : part.registers[SAMPLED_SP] + valid;
}

bool ring_youngest(const struct ring *ring, uint64_t *position, struct sample_instant *found)
{
    struct sample_record record;
    bool is_found = false;
    const uint64_t tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED), head = head_of(ring);
    if (*position < tail)
        *position = tail;
    for (; *position < head; *position += record.header.size) {
        copy_from(ring, *position, &record, sizeof record);
        if (record.header.size < sizeof record.header) {
            *position = head;
            break;
        }
        if (record.header.type == PERF_RECORD_SAMPLE && record.period != SWITCH_PERIOD) {
            *found = (struct sample_instant){(int)record.pid, (int)record.tid, record.time,
                                           end_of_copy(ring, *position, &record)};
            is_found = true;
        }
    }
    return is_found;
}
