#include "lib/thread-chunks.h"

#include <string.h>

uint64_t tick_time(const struct tick_times *times, uint64_t ticks)
{
    if (ticks < times->began_ticks || times->ticks <= times->began_ticks ||
        times->wall <= times->began_wall)
        return times->wall;
    uint64_t base = times->ticks - times->began_ticks, ns = times->wall - times->began_wall;
    return times->began_wall +
           (uint64_t)((unsigned __int128)(ticks - times->began_ticks) * ns / base);
}

/* How many records count: of the array, with the open one; and recent ones. False: the image is damaged. */
struct trace_numbers {
    uint32_t shared, recent;
};

static bool count_records(const struct arena_thread *image, const struct trace_extent *extent,
                          struct trace_numbers *numbers)
{
    uint64_t recent = image->trace_recent_count;
    if (recent > ARENA_RECENT || (extent->is_thinned && extent->parts > extent->count / 2))
        return false;
    numbers->recent = recent > extent->taken ? (uint32_t)recent - extent->taken : 0;
    numbers->shared =
        extent->is_thinned ? extent->count - extent->parts : extent->count + (extent->parts > 0);
    return true;
}

/* The i-th record that counts, in the order of time. */
static const struct trace_record *record_at(struct thread_chunks *thread,
                                            const struct trace_extent *extent,
                                            const struct trace_numbers *numbers, uint32_t i)
{
    const struct trace_record *open = thread->image->trace_open;
    if (i >= numbers->shared)
        return &thread->image->trace_recent[extent->taken + i - numbers->shared];
    if (!extent->is_thinned)
        return i < extent->count ? thread->item(thread, ARENA_TRACE, i) : &open[extent->parts % 2];
    if (i == 0 && extent->parts > 0)
        return &open[0];
    return thread->item(thread, ARENA_TRACE, i < extent->parts ? i : i + extent->parts);
}

/* Bytes of a record at most: two numbers of 64 bits, four of 32, and its state. */
#define RECORD_BYTES (2 * VARINT_MAX_BYTES + 4 * 5 + 1)

/* What the next record is written relative to. */
struct record_before {
    uint64_t time;
    uint32_t node, n, working;
};

static void add_record(struct chunk *chunk, const struct trace_record *record, uint64_t time,
                       struct record_before *before)
{
    bool has_capacity = record->n != before->n || record->working != before->working;
    unsigned tag = (record->amount & (TRACE_STATE_MASK | TRACE_WORKER)) |
                   (has_capacity ? TRACE_HAS_CAPACITY : 0u) |
                   (record->waiters ? TRACE_HAS_WAITERS : 0u);
    chunk_z(chunk, (int64_t)(time - before->time));
    chunk_u8(chunk, (uint8_t)tag);
    chunk_v(chunk, trace_amount(record->amount));
    chunk_z(chunk, (int64_t)record->node - (int64_t)before->node);
    if (has_capacity) {
        chunk_v(chunk, record->n);
        chunk_v(chunk, record->working);
    }
    if (record->waiters)
        chunk_v(chunk, record->waiters);
    *before = (struct record_before){time, record->node, record->n, record->working};
}

static uint64_t time_of(const struct arena_thread *image, const struct tick_times *times,
                        const struct trace_record *record)
{
    return image->trace_is_in_ns ? record->time : tick_time(times, record->time);
}

bool thread_chunks_trace(struct thread_chunks *thread, const struct tick_times *times,
                         uint32_t *written)
{
    const struct arena_thread *image = thread->image;
    const struct trace_extent extent = trace_extent(image->trace);
    struct trace_numbers numbers;
    *written = 0;
    if (!count_records(image, &extent, &numbers))
        return false;
    uint32_t number = numbers.shared + numbers.recent;
    while (*written < number) {
        struct record_before before = {.time = image->began_wall};
        uint32_t i = *written;
        chunk_begin(thread->chunk, CHUNK_TRACE, image->index);
        chunk_v(thread->chunk, image->trace_event);
        chunk_v(thread->chunk, (uint64_t)1 << extent.scale);
        size_t count = chunk_count_later(thread->chunk);
        for (; i < number && chunk_has_room(thread->chunk, RECORD_BYTES); i++) {
            const struct trace_record *record = record_at(thread, &extent, &numbers, i);
            if (!record)
                return false;
            add_record(thread->chunk, record, time_of(image, times, record), &before);
        }
        chunk_count(thread->chunk, count, i - *written);
        if (!thread->commit(thread))
            return false;
        *written = i;
    }
    return true;
}

/* ---- marks ---- */

/* Bytes of a mark at most: two numbers, its kind and its name. */
#define MARK_BYTES (2 * VARINT_MAX_BYTES + 1 + MARK_NAME)

/* Returns how many it has added; false in *good: one is not there. */
static uint32_t add_marks(struct thread_chunks *thread, const struct tick_times *times,
                          uint32_t first, bool *good)
{
    uint64_t before = thread->image->began_wall;
    uint32_t i = first;
    for (; i < thread->image->marks && chunk_has_room(thread->chunk, MARK_BYTES); i++) {
        const struct arena_mark *mark = thread->item(thread, ARENA_MARKS, i);
        *good = mark != NULL;
        if (!mark)
            break;
        uint64_t time = tick_time(times, mark->ticks);
        chunk_z(thread->chunk, (int64_t)(time - before));
        chunk_u8(thread->chunk, (uint8_t)mark->kind);
        chunk_bytes(thread->chunk, mark->name, strnlen(mark->name, MARK_NAME));
        before = time;
    }
    return i - first;
}

bool thread_chunks_marks(struct thread_chunks *thread, const struct tick_times *times, uint32_t *first)
{
    const struct arena_thread *image = thread->image;
    bool good = image->marks <= MAX_MARKS;
    bool is_due = *first < image->marks || image->lost_marks > 0;
    for (; good && is_due; is_due = *first < image->marks) {
        chunk_begin(thread->chunk, CHUNK_MARKS, image->index);
        size_t count = chunk_count_later(thread->chunk);
        uint32_t added = add_marks(thread, times, *first, &good);
        chunk_v(thread->chunk, image->lost_marks);
        chunk_count(thread->chunk, count, added);
        good = good && thread->commit(thread);
        *first += good ? added : 0;
    }
    return good;
}

/* ---- wake-ups ---- */

#define WAKE_UP_BYTES (4 * VARINT_MAX_BYTES)

/* Ticks before `to` in ns. */
static uint64_t time_before(const struct tick_times *times, uint64_t to, uint64_t ticks)
{
    uint64_t time = tick_time(times, to), before = tick_time(times, ticks);
    return ticks < to && before < time ? time - before : 0;
}

/* Returns the item after the last one that it has added; false in *good: one is not there. */
static uint32_t add_wake_ups(struct thread_chunks *thread, const struct tick_times *times, uint32_t first, bool *good)
{
    uint64_t before = thread->image->began_wall;
    uint32_t i = first;
    for (; i < thread->image->wake_ups && chunk_has_room(thread->chunk, WAKE_UP_BYTES); i++) {
        const struct arena_wake_up *wake_up = thread->item(thread, ARENA_WAKE_UPS, i);
        *good = wake_up != NULL;
        if (!wake_up)
            break;
        uint64_t time = tick_time(times, wake_up->ticks), released = wake_up->released;
        chunk_z(thread->chunk, (int64_t)(time - before));
        chunk_v(thread->chunk, time_before(times, wake_up->ticks, wake_up->began));
        chunk_v(thread->chunk, released ? time_before(times, wake_up->ticks, released) : 0);
        chunk_v(thread->chunk, wake_up->thread);
        before = time;
    }
    return i;
}

bool thread_chunks_wake_ups(struct thread_chunks *thread, const struct tick_times *times)
{
    const struct arena_thread *image = thread->image;
    uint64_t window = time_before(times, times->began_ticks + WAKE_UP_WINDOW, times->began_ticks);
    bool good = image->wake_ups <= MAX_WAKE_UPS;
    uint32_t known = window ? image->wake_ups : 0;
    for (uint32_t next, i = 0; good && i < known; i = next) {
        chunk_begin(thread->chunk, CHUNK_WAKE_UPS, image->index);
        size_t count = chunk_count_later(thread->chunk);
        next = add_wake_ups(thread, times, i, &good);
        chunk_v(thread->chunk, image->lost_wake_ups);
        chunk_v(thread->chunk, (uint64_t)1 << (image->wake_up_scale & 63));
        chunk_v(thread->chunk, window);
        chunk_count(thread->chunk, count, next - i);
        good = good && thread->commit(thread);
    }
    return good;
}
