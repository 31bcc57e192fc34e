#include "hpcrun/sample/sample-trace.h"

#include "hpcrun/base/shared-pages.h"

/* The word changes after what it makes count was stored, and before anything else is. */
static void publish(struct thread *thread, struct trace_extent extent)
{
    __atomic_store_n(&thread->image->trace, trace_word(extent), __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory");
}

static struct trace_record *record_at(const struct thread *thread, uint32_t index)
{
    return segments_item(&thread->trace, index);
}

/* Adds a later record: of both, the one that stays is chosen with a probability proportional to its
 * amount. */
static void merge(struct thread *thread, struct trace_record *into, const struct trace_record *later)
{
    uint64_t before = trace_amount(into->amount), added = trace_amount(later->amount);
    const struct trace_record *kept = thread_random(thread, before + added) < added ? later : into;
    uint64_t flags = kept->amount & (((uint64_t)1 << TRACE_FLAG_BITS) - 1);
    *into = *kept;
    into->time = later->time;
    into->amount = (before + added) << TRACE_FLAG_BITS | flags;
}

/* ---- thinning ---- */

static bool can_thin(struct trace_extent extent)
{
    return extent.count >= 2 && extent.scale < TRACE_MAX_SCALE;
}

/* Makes one record of each two, when there is no open one. The states on the way are those of
 * arena-format.h. An odd last record stays as it is. */
static struct trace_extent thin(struct thread *thread, struct trace_extent extent)
{
    struct trace_record *first = &thread->image->trace_open[0];
    uint32_t pairs = extent.count / 2, odd = extent.count % 2;
    extent.is_thinned = true;
    extent.scale++;
    publish(thread, extent);
    while (extent.parts < pairs) {
        uint32_t i = extent.parts;
        struct trace_record merged = *record_at(thread, 2 * i);
        merge(thread, &merged, record_at(thread, 2 * i + 1));
        *(i == 0 ? first : record_at(thread, i)) = merged;
        extent.parts++;
        publish(thread, extent);
    }
    if (odd)
        *record_at(thread, pairs) = *record_at(thread, extent.count - 1);
    *record_at(thread, 0) = *first;
    extent.count = pairs + odd;
    extent.parts = 0;
    extent.is_thinned = false;
    publish(thread, extent);
    return extent;
}

/* ---- the array ---- */

/* A page fault in the handler costs ten times as much as the next one in a row, 20 us: takes those of a new
 * segment together. Of a trace without a bound, a segment may have a gigabyte: of these, only the first faults. */
#define TOUCHED_BYTES (256u << 10) /* of the largest segment of TRACE_RECORDS */

static bool add_room(struct segments *trace)
{
    uint32_t before = trace->count;
    void *added = segments_add(trace);
    unsigned segment = segment_of(trace, before);
    bool is_first = before + segment_length(trace, 0) == segment_length(trace, segment);
    if (added && is_first && segments_are_shared(trace)) {
        size_t size = segment_length(trace, segment) * trace->item_size;
        shared_pages_touch(added, size < TOUCHED_BYTES ? size : TOUCHED_BYTES);
    }
    return added;
}

/* Whether there is room for the record after the last one. */
static bool has_room(struct thread *thread, struct trace_extent extent)
{
    return extent.count < thread->trace_limit &&
           (extent.count < thread->trace.count || add_room(&thread->trace));
}

/* Adds a record to the open one, if several share one, and returns whether that is complete. */
static bool add_to_open(struct thread *thread, struct trace_extent *extent, struct trace_record *record)
{
    struct trace_record *open = thread->image->trace_open;
    if (extent->scale == 0)
        return true;
    if (extent->parts > 0) {
        struct trace_record merged = open[extent->parts % 2];
        merge(thread, &merged, record);
        *record = merged;
    }
    extent->parts++;
    if (extent->parts >> extent->scale) {
        extent->parts = 0;
        return true;
    }
    open[extent->parts % 2] = *record;
    return false;
}

/* Adds a recent record. Without room for it, and if there are too few to thin, it is lost. */
static struct trace_extent take(struct thread *thread, struct trace_extent extent,
                                struct trace_record record)
{
    bool fits = extent.parts > 0 || has_room(thread, extent);
    if (!fits && can_thin(extent)) {
        extent = thin(thread, extent);
        fits = true;
    }
    if (fits && add_to_open(thread, &extent, &record))
        *record_at(thread, extent.count++) = record;
    extent.taken++;
    publish(thread, extent);
    return extent;
}

void sample_trace_move(struct thread *thread)
{
    struct arena_thread *image = thread->image;
    struct trace_extent extent = trace_extent(image->trace);
    while (extent.taken < image->trace_recent_count)
        extent = take(thread, extent, image->trace_recent[extent.taken]);
    sample_trace_publish(thread, 0);
    extent.taken = 0;
    publish(thread, extent);
}

/* ---- a sample ---- */

/* Makes the next recent record, unless it would have no time. */
static uint64_t add_part(struct trace_record *recent, const struct trace_record *found,
                         uint64_t state, uint64_t amount)
{
    *recent = *found;
    recent->amount = amount << TRACE_FLAG_BITS | state;
    return amount > 0;
}

void sample_trace_parts(struct thread *thread, const struct increment *increment)
{
    struct trace_record *recent = thread->image->trace_recent;
    uint64_t count = thread->image->trace_recent_count;
    struct trace_record found = recent[count];
    enum trace_state state = trace_state(found.amount);
    uint64_t rest = increment->amount;
    if (state == TRACE_WORK) {
        count += add_part(&recent[count], &found, TRACE_OFF_CPU | (found.amount & TRACE_WORKER),
                          increment->off_cpu);
        rest -= increment->off_cpu;
    }
    if (state == TRACE_WORK || state == TRACE_WAITING) {
        struct trace_record without_cpu = found;
        without_cpu.node = thread->traced->ready_node;
        count += add_part(&recent[count], &without_cpu, TRACE_READY, increment->ready);
        rest -= increment->ready;
    }
    count += add_part(&recent[count], &found, found.amount, rest);
    sample_trace_publish(thread, count);
    if (count + TRACE_PARTS > ARENA_RECENT)
        sample_trace_move(thread);
}
