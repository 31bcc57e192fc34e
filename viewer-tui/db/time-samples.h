/* The samples of a thread, in the order of time, and the intervals that they are about: the last part, as long as the
 * amount, of the time since the sample before. Intervals do not overlap. */
#ifndef VIEWER_TIME_SAMPLES_H
#define VIEWER_TIME_SAMPLES_H

#include "viewer-tui/db/timeline.h"

/* The records first .. next - 1 have the same time, and share an interval. */
struct time_samples {
    const struct timeline *timeline;
    const struct timeline_record *records;
    uint64_t n, first, next; /* indices of records */
    uint64_t begin, end;     /* of the interval; the same if the amount is no time */
    uint64_t amount;         /* of all its records, in the fixed point of the event */
};

/* Before the first sample that ends at `time` or later. */
static inline struct time_samples time_samples_from(const struct timeline *timeline,
                                                    const struct timeline_thread *thread, uint64_t time)
{
    struct time_samples samples = {.timeline = timeline,
                                   .records = timeline_records(timeline, thread),
                                   .n = thread->n_records,
                                   .next = timeline_find(timeline, thread, time)};
    if (samples.next > 0)
        samples.end = samples.records[samples.next - 1].time * timeline->header.unit;
    return samples;
}

/* Goes to the next sample; false at the end. */
static inline bool time_samples_next(struct time_samples *samples)
{
    if (samples->next >= samples->n)
        return false;
    const struct timeline_record *records = samples->records;
    uint64_t before = samples->end, at = samples->first = samples->next, sum = 0;
    uint32_t time = records[at].time;
    while (at < samples->n && records[at].time == time)
        sum += trace_amount(records[at++].amount);
    uint64_t end = time * samples->timeline->header.unit, length = sum >> samples->timeline->header.shift;
    before = before < end ? before : end; /* of a damaged file */
    samples->begin = !samples->timeline->is_time ? end : end - before < length ? before : end - length;
    samples->next = at;
    samples->end = end;
    samples->amount = sum;
    return true;
}

/* The state of a record; its place is known unless this is TRACE_DROPPED. */
static inline enum trace_state time_sample_state(const struct time_samples *samples, uint64_t record)
{
    const struct timeline_record *of = &samples->records[record];
    enum trace_state state = trace_state(of->amount);
    bool is_sound = state > 0 && state < TRACE_STATES && of->place < samples->timeline->header.n_places;
    return is_sound ? state : timeline_state(samples->timeline, of);
}

#endif
