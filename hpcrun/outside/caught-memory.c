#include "hpcrun/outside/caught-memory.h"

#include <string.h>

/* The reader takes samples that are older than this from the rings. So it has seen whether a ring was full, and a
 * record lost, until the last read. */
#define MOST_NS 200000u

size_t caught_size(uint64_t count)
{
    return offsetof(struct caught, address) + count * (sizeof(uint64_t) + CAUGHT_BLOCK_BYTES);
}

const uint8_t *caught_block(const struct caught *caught, uint64_t i)
{
    return (const uint8_t *)&caught->address[caught->count] + i * CAUGHT_BLOCK_BYTES;
}

/* ---- the proof ---- */

static enum caught_proof prove(struct record_queue *queue, const struct caught *caught,
                               const struct perf_event_header *sample, uint64_t until)
{
    const struct perf_event_header *record = &caught->header;
    bool has_left = false;
    if (caught->ended - caught->time > MOST_NS || record_queue_dropped_at(queue) >= caught->time)
        return CAUGHT_NOT_PROVEN;
    if (until <= caught->ended)
        return CAUGHT_NOT_YET;
    while ((record = record_queue_after(queue, record)) && perf_record_time(record) <= caught->ended) {
        if (perf_record_tid(record) != (int)caught->tid || record->type == PERF_RECORD_CAUGHT)
            continue;
        if (perf_record_is_switch(record)) {
            if (perf_record_time(record) > caught->began || !perf_records_have_equal_registers(record, sample))
                return CAUGHT_NOT_PROVEN;
            has_left = true;
        } else if (record->type == PERF_RECORD_SAMPLE ||
                   (record->type == PERF_RECORD_SWITCH && !(record->misc & PERF_RECORD_MISC_SWITCH_OUT))) {
            return CAUGHT_NOT_PROVEN;
        }
    }
    return has_left ? CAUGHT_PROVEN : CAUGHT_NOT_PROVEN;
}

const struct caught *caught_after(struct record_queue *queue, const struct perf_event_header *sample)
{
    const struct perf_event_header *next = record_queue_after(queue, sample);
    bool is_caught = next && next->type == PERF_RECORD_CAUGHT && perf_record_tid(next) == perf_record_tid(sample) &&
                     perf_record_time(next) == perf_record_time(sample);
    return is_caught ? (const struct caught *)next : NULL;
}

enum caught_proof caught_prove(struct record_queue *queue, const struct perf_event_header *sample, uint64_t until)
{
    if (until <= perf_record_time(sample))
        return CAUGHT_NOT_YET;
    const struct caught *caught = caught_after(queue, sample);
    return caught ? prove(queue, caught, sample, until) : CAUGHT_NOT_PROVEN;
}

/* ---- the memory ---- */

static struct {
    const struct caught *caught;
    bool has_failed;
} current;

void caught_use(const struct caught *caught)
{
    current.caught = caught;
    current.has_failed = !caught;
}

static const uint8_t *find(const struct caught *caught, uint64_t address)
{
    static uint64_t last; /* index of the block that was found last: reads come in the order of the record */
    const uint64_t count = caught->count, first = last < count ? last : 0;
    for (uint64_t n = 0, i = first; n < count; n++, i = i + 1 < count ? i + 1 : 0)
        if (caught->address[i] == address) {
            last = i;
            return caught_block(caught, i);
        }
    return NULL;
}

bool caught_copy(const struct caught *caught, uint64_t address, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = (address + done) % CAUGHT_BLOCK_BYTES;
        size_t part = CAUGHT_BLOCK_BYTES - at < size - done ? CAUGHT_BLOCK_BYTES - at : size - done;
        const uint8_t *block = find(caught, address + done - at);
        if (!block)
            return false;
        memcpy((uint8_t *)to + done, block + at, part);
        done += part;
    }
    return true;
}

bool caught_read(uint64_t address, void *to, size_t size)
{
    bool is_read = current.caught && caught_copy(current.caught, address, to, size);
    current.has_failed |= !is_read;
    return is_read;
}

bool caught_is_whole(void)
{
    return !current.has_failed;
}

bool caught_lacks(void)
{
    return current.caught && current.has_failed;
}

uint64_t caught_hint(void)
{
    return current.caught ? current.caught->hint : 0;
}
