#include "hpcrun/sample/sample-trace.h"

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
    into->ticks = later->ticks;
    into->amount = (before + added) << TRACE_FLAG_BITS | flags;
}

/* ---- thinning ---- */

static bool can_thin(struct trace_extent extent)
{
    return extent.count >= 2 && extent.scale + 1 < 1u << TRACE_SCALE_BITS;
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
    extent = (struct trace_extent){.count = pairs + odd, .scale = extent.scale};
    publish(thread, extent);
    return extent;
}

/* ---- records ---- */

/* Whether there is room for the record after the last one. */
static bool has_room(struct thread *thread, struct trace_extent extent)
{
    return extent.count < thread->trace_limit &&
           (extent.count < thread->trace.count || segments_add(&thread->trace));
}

/* Adds a record to the open one, if samples share records, and returns whether that is complete. */
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

static void add(struct thread *thread, struct trace_record record)
{
    struct trace_extent extent = trace_extent(thread->image->trace);
    if (extent.parts == 0 && !has_room(thread, extent)) {
        if (!can_thin(extent))
            return;
        extent = thin(thread, extent);
    }
    if (add_to_open(thread, &extent, &record))
        *record_at(thread, extent.count++) = record;
    publish(thread, extent);
}

static void add_part(struct thread *thread, const struct trace_record *found, uint64_t state,
                     uint64_t amount)
{
    struct trace_record record = *found;
    if (amount == 0)
        return;
    record.amount = amount << TRACE_FLAG_BITS | state;
    if (state == TRACE_READY) /* it blames no one */
        record.waiters = 0;
    add(thread, record);
}

void sample_trace(struct thread *thread, const struct increment *increment,
                  const struct trace_record *found)
{
    enum trace_state state = trace_state(found->amount);
    uint64_t flags = found->amount & TRACE_WORKER, off_cpu = 0, ready = 0;
    if (state == TRACE_WORK || state == TRACE_WAITING)
        ready = increment->ready;
    if (state == TRACE_WORK)
        off_cpu = increment->off_cpu;
    add_part(thread, found, TRACE_OFF_CPU | flags, off_cpu);
    add_part(thread, found, TRACE_READY, ready);
    add_part(thread, found, state | flags, increment->amount - ready - off_cpu);
}
