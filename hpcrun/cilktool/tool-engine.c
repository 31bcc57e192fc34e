#include "hpcrun/cilktool/tool-engine.h"

#include "hpcrun/base/lock.h"
#include "hpcrun/process/process.h"
#include "hpcrun/span/work-span.h"

#include <stdatomic.h>
#include <stddef.h>

/* The library's own, for span/: libhpcrun.so has another. */
struct sampling sampling;

#pragma weak frame_events_of_hpcrun

static const struct frame_events *_Atomic engine;

/* Without hpcrun no call path is kept. */
static uint64_t same_site(uint64_t site)
{
    return site;
}

static const struct frame_events *begin(void)
{
    const struct frame_events *of_hpcrun = frame_events_of_hpcrun ? frame_events_of_hpcrun() : NULL;
    if (of_hpcrun)
        return of_hpcrun;
    if (!work_span_init(SPAN_BURDEN_NS))
        return NULL;
    frame_span_init(SPAN_BURDEN_NS, same_site);
    work_span_go_on();
    return &frame_span_events;
}

static const struct frame_events *begin_once(void)
{
    static struct lock lock;
    static bool has_begun;
    lock_enter(&lock);
    if (!has_begun)
        engine = begin();
    has_begun = true;
    lock_leave(&lock);
    return engine;
}

const struct frame_events *tool_engine(void)
{
    const struct frame_events *events = atomic_load_explicit(&engine, memory_order_acquire);
    return events ? events : begin_once();
}
