#include "viewer-tui/timeline/at-work.h"

#include <math.h>

/* A gap is short up to the largest of these: 10 mean intervals of a record; 50 ms; twice a gap that the thread often
 * has. */
#define SHORT_INTERVALS 10
#define SHORT_NS        50e6
#define TIMES_OFTEN     2

/* Sets the time that a record of work is about; false: the record is not of work. */
static inline bool work_of(const struct timeline *timeline, const struct timeline_record *record,
                           struct time_range *its)
{
    enum { OF_WORK = 1 << TRACE_WORK | 1 << TRACE_OVERHEAD | 1 << TRACE_READY };
    if (!(OF_WORK >> trace_state(record->amount) & 1))
        return false;
    uint64_t length = trace_amount(record->amount) >> timeline->header.shift;
    its->to = record->time * timeline->header.unit;
    its->from = its->to > length ? its->to - length : 0;
    return true;
}

struct at_work at_work_of(const struct timeline *timeline, const struct timeline_thread *thread, double interval,
                          double least)
{
    uint64_t longest[OFTEN] = {0}, end = UINT64_MAX; /* descending */
    const struct timeline_record *records = timeline_records(timeline, thread);
    struct time_range its;
    for (uint64_t i = 0; i < thread->n_records; i++) {
        if (!work_of(timeline, &records[i], &its))
            continue;
        uint64_t gap = its.from > end ? its.from - end : 0;
        for (int at = OFTEN - 1; at >= 0 && gap > longest[at]; at--) {
            if (at + 1 < OFTEN)
                longest[at + 1] = longest[at];
            longest[at] = gap;
        }
        end = its.to;
    }
    double often = (double)longest[OFTEN - 1];
    double gap = fmax(fmax(SHORT_INTERVALS * interval, SHORT_NS), fmax(TIMES_OFTEN * often, least));
    return (struct at_work){(uint64_t)gap, interval + often};
}

/* A stretch that begins or ends within a short gap of the run's begin or end reaches to that: the process started or
 * ended then. */
static void add_stretch(const struct timeline *timeline, struct time_range stretch, uint64_t gap,
                        time_ranges *stretches)
{
    stretch.from = stretch.from <= gap ? 0 : stretch.from;
    stretch.to = stretch.to + gap >= timeline->end ? timeline->end : stretch.to;
    vec_push(stretches, stretch);
}

void at_work_stretches(const struct timeline *timeline, const struct timeline_thread *thread, uint64_t gap,
                       struct time_range range, time_ranges *stretches)
{
    const struct timeline_record *records = timeline_records(timeline, thread);
    struct time_range its, open = {0, 0};
    uint64_t i = timeline_find(timeline, thread, range.from > gap ? range.from - gap : 0);
    for (; i < thread->n_records; i++) {
        if (!work_of(timeline, &records[i], &its))
            continue;
        bool goes_on = open.to && its.from <= open.to + gap;
        if (!goes_on && its.from > range.to)
            break;
        if (!goes_on && open.to > range.from)
            add_stretch(timeline, open, gap, stretches);
        uint64_t end = goes_on && open.to > its.to ? open.to : its.to; /* a damaged file may go back */
        open = (struct time_range){goes_on ? open.from : its.from, end};
        if (open.to > range.to)
            break;
    }
    if (open.to > range.from && open.from < range.to)
        add_stretch(timeline, open, gap, stretches);
}
