#include "viewer-tui/threads/run-slice.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-slice.h"

#include <math.h>
#include <string.h>

#define NANOS 1e9

struct slicer {
    const struct timeline *timeline;
    const time_ranges *ranges;
    double from, to; /* seconds: of the first and the last */
    bool is_wall_time; /* of the traced event */
    double amount, squares; /* of all records */
    uint64_t n_records;
    uint32_t step;
};

/* What the records of a thread say. */
struct thread_times {
    double cpu, ready, fates[4]; /* seconds, or counts; fates in the order of fate_names */
    uint64_t counts[4];
    bool has_records;
};

enum { RECORDED, IDLE, NOBODY_WORKING, DROPPED };

static const char *const fate_names[] = {
    [RECORDED] = "recorded",
    [IDLE] = "idle thread",
    [NOBODY_WORKING] = "nobody working",
    [DROPPED] = "dropped: for any reason",
};
#define FATES (sizeof fate_names / sizeof *fate_names)

static int fate_of(enum trace_state state)
{
    switch (state) {
    case TRACE_IDLE:
    case TRACE_RUNTIME: return IDLE;
    case TRACE_NOBODY: return NOBODY_WORKING;
    case TRACE_DROPPED: return DROPPED;
    default: return RECORDED;
    }
}

/* The amount in which the thread is known to have been on a CPU. */
static uint64_t on_cpu(const struct slicer *slicer, const struct state_sums *sums, enum trace_state state)
{
    if (!slicer->is_wall_time)
        return state == TRACE_READY || state == TRACE_OFF_CPU ? 0 : sums->amounts[state];
    if (state == TRACE_WAITING)
        return sums->waiting_on_cpu;
    return state == TRACE_WORK || state == TRACE_OVERHEAD ? sums->amounts[state] : 0;
}

static struct thread_times times_of(struct slicer *slicer, uint32_t profile)
{
    struct state_sums sums = {0};
    struct thread_times times = {0};
    const struct timeline_thread *thread = timeline_thread(slicer->timeline, profile);
    if (!thread)
        return times;
    for (size_t i = 0; i < slicer->ranges->n; i++)
        state_sums_add(&sums, slicer->timeline, thread, slicer->ranges->at[i]);
    for (int state = 0; state < TRACE_STATES; state++) {
        double amount = timeline_amount(slicer->timeline, (double)sums.amounts[state]);
        int fate = fate_of((enum trace_state)state);
        times.fates[fate] += amount;
        times.counts[fate] += sums.counts[state];
        times.cpu += timeline_amount(slicer->timeline, (double)on_cpu(slicer, &sums, (enum trace_state)state));
        times.ready += state == TRACE_READY ? amount : 0;
        times.has_records |= sums.amounts[state] > 0;
        slicer->amount += amount;
        slicer->n_records += sums.counts[state];
    }
    slicer->squares += sums.squares;
    slicer->step = times.has_records && thread->step > slicer->step ? thread->step : slicer->step;
    return times;
}

/* ---- threads ---- */

static double overlap(const struct slicer *slicer, double begin, double wall)
{
    double sum = 0;
    for (size_t i = 0; i < slicer->ranges->n; i++) {
        double from = (double)slicer->ranges->at[i].from / NANOS, to = (double)slicer->ranges->at[i].to / NANOS;
        sum += fmax(fmin(begin + wall, to) - fmax(begin, from), 0);
    }
    return sum;
}

static json_t *fates_of_times(const struct thread_times *times)
{
    json_t *fates = json_object();
    double amount = 0;
    uint64_t count = 0;
    for (size_t fate = 0; fate < FATES; fate++) {
        amount += times->fates[fate];
        count += times->counts[fate];
    }
    json_object_set_new(fates, "fired", json_pack("{s: I, s: f}", "count", (json_int_t)count, "amount", amount));
    for (size_t fate = 0; fate < FATES; fate++)
        if (times->fates[fate] > 0)
            json_object_set_new(fates, fate_names[fate],
                                json_pack("{s: I, s: f}", "count", (json_int_t)times->counts[fate], "amount",
                                          times->fates[fate]));
    return fates;
}

/* The traced event of a thread, of the others nothing is known. */
static json_t *events_of(const struct slicer *slicer, const json_t *thread, const struct thread_times *times)
{
    json_t *events = json_array(), *event;
    size_t i;
    json_array_foreach(json_object_get(thread, "events"), i, event)
    {
        if (strcmp(run_text(event, "event"), slicer->timeline->event) != 0)
            continue;
        json_t *fates = fates_of_times(times), *copy = json_copy(event);
        json_object_set(copy, "samples", json_object_get(json_object_get(fates, "fired"), "count"));
        json_object_set_new(copy, "fates", fates);
        json_array_append_new(events, copy);
    }
    return events;
}

/* Sets a number, if it is one; else it stays unknown. */
static void set_number(json_t *object, const char *key, bool is_known, double value)
{
    if (json_is_number(json_object_get(object, key)))
        json_object_set_new(object, key, is_known ? json_real(value) : json_null());
}

static void multiply(json_t *object, const char *key, double factor)
{
    set_number(object, key, true, run_number(object, key) * factor);
}

/* The sums over a process's threads. */
struct process_times {
    double begin; /* of the process, in the time line */
    double cpu, ready;
    uint64_t counts[FATES];
};

/* The seconds in which a thread had no CPU, and how often it got one, are known for its whole life. While it sleeps it
 * wants none, so they are those of its CPU time; of another event, those of its life. */
static void slice_waits_for_cpu(const struct slicer *slicer, json_t *thread, double cpu, double wall)
{
    double all = slicer->timeline->is_time ? run_number(thread, "cpu") : run_number(thread, "wall");
    double share = all > 0 ? fmin((slicer->timeline->is_time ? cpu : wall) / all, 1) : 0;
    double ready = fmin(run_number(thread, "ready") * share, fmax(wall - cpu, 0));
    multiply(thread, "timeslices", share);
    set_number(thread, "ready", true, ready);
}

/* NULL: it did not live then. */
static json_t *slice_thread(struct slicer *slicer, const json_t *thread, struct process_times *process)
{
    double begin = process->begin + run_number(thread, "begin"), wall = run_number(thread, "wall");
    double left = overlap(slicer, begin, wall);
    struct thread_times times = times_of(slicer, (uint32_t)run_number(thread, "profile"));
    if (left == 0 && !times.has_records)
        return NULL;
    json_t *copy = json_copy((json_t *)thread);
    if (slicer->is_wall_time)
        set_number(copy, "ready", true, times.ready);
    else
        slice_waits_for_cpu(slicer, copy, slicer->timeline->is_time ? times.cpu : 0, left);
    set_number(copy, "begin", true, fmax(begin, slicer->from) - fmax(process->begin, slicer->from));
    set_number(copy, "wall", true, left);
    set_number(copy, "cpu", slicer->timeline->is_time, times.cpu);
    json_object_set_new(copy, "events", events_of(slicer, thread, &times));
    process->cpu += times.cpu;
    process->ready += run_number(copy, "ready");
    for (size_t fate = 0; fate < FATES; fate++)
        process->counts[fate] += times.counts[fate];
    return copy;
}

/* ---- processes ---- */

static void set_count(json_t *process, const char *key, uint64_t count)
{
    json_object_set_new(process, key, json_integer((json_int_t)count));
}

/* NULL: it has no threads that lived then. */
static json_t *slice_process(struct slicer *slicer, const json_t *process)
{
    size_t i;
    json_t *thread, *threads = json_array(), *copy;
    double wall = run_number(process, "wall");
    struct process_times times = {.begin = run_number(process, "time_line_begin")};
    json_array_foreach(json_object_get(process, "threads"), i, thread)
    {
        json_t *sliced = slice_thread(slicer, thread, &times);
        if (sliced)
            json_array_append_new(threads, sliced);
    }
    if (json_array_size(threads) == 0) {
        json_decref(threads);
        return NULL;
    }
    copy = json_copy((json_t *)process);
    double left = overlap(slicer, times.begin, wall);
    uint64_t *counts = times.counts;
    set_number(copy, "wall", true, left);
    set_number(copy, "cpu", slicer->timeline->is_time, times.cpu);
    set_number(copy, "ready", true, times.ready);
    multiply(copy, "throttled", wall > 0 ? fmin(left / wall, 1) : 0);
    set_number(copy, "startup_cpu", false, 0);
    set_number(copy, "unsampled_cpu", false, 0);
    set_count(copy, "samples", counts[RECORDED] + counts[IDLE] + counts[NOBODY_WORKING] + counts[DROPPED]);
    set_count(copy, "recorded", counts[RECORDED]);
    set_count(copy, "idle", counts[IDLE]);
    set_count(copy, "nobody_working", counts[NOBODY_WORKING]);
    json_object_set_new(copy, "dropped",
                        counts[DROPPED] ? json_pack("{s: I}", "for any reason", (json_int_t)counts[DROPPED])
                                        : json_object());
    json_object_set_new(copy, "partial", json_object());
    json_object_set_new(copy, "threads", threads);
    return copy;
}

/* ---- the run ---- */

static json_t *slice_metrics(const json_t *run, const char *event)
{
    size_t i;
    json_t *metric, *metrics = json_array();
    autofree char *why = mem_printf("it is known for the whole run only: the time line has the samples of %s", event);
    json_array_foreach(json_object_get(run, "metrics"), i, metric)
    {
        json_t *copy = json_copy(metric);
        bool is_measured = metric_state_of(run_text(metric, "state")) != METRIC_NOT_MEASURED;
        if (is_measured && record_metric_of(metric, event) == RECORD_METRICS) {
            json_object_set_new(copy, "state", json_string(metric_state_name(METRIC_NOT_MEASURED)));
            json_object_set_new(copy, "why", json_string(why));
        }
        json_array_append_new(metrics, copy);
    }
    return metrics;
}

static json_t *slice_events(const struct slicer *slicer, const json_t *run)
{
    size_t i;
    json_t *event, *events = json_array();
    double scale = timeline_amount(slicer->timeline, 1);
    json_array_foreach(json_object_get(run, "events"), i, event)
    {
        json_t *copy = json_copy(event);
        if (i == slicer->timeline->header.event && slicer->amount > 0)
            json_object_set_new(copy, "increment", json_real(slicer->squares * scale * scale / slicer->amount));
        json_array_append_new(events, copy);
    }
    return events;
}

static json_t *range_of(const struct slicer *slicer)
{
    double length = overlap(slicer, slicer->from, slicer->to - slicer->from);
    json_t *range = json_pack("{s: f, s: f, s: I, s: I}", "from", slicer->from, "to", slicer->to, "records",
                              (json_int_t)slicer->n_records, "step", (json_int_t)slicer->step);
    if (slicer->ranges->n > 1) {
        json_object_set_new(range, "pieces", json_integer((json_int_t)slicer->ranges->n));
        json_object_set_new(range, "length", json_real(length));
    }
    return range;
}

json_t *run_slice(const json_t *run, const struct timeline *timeline, const time_ranges *ranges)
{
    size_t i;
    struct time_range span = time_ranges_span(ranges);
    json_t *process, *processes = json_array(), *slice = json_copy((json_t *)run);
    struct slicer slicer = {.timeline = timeline,
                            .ranges = ranges,
                            .from = (double)span.from / NANOS,
                            .to = (double)span.to / NANOS,
                            .is_wall_time = timeline_has_waits(timeline)};
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        json_t *sliced = slice_process(&slicer, process);
        if (sliced)
            json_array_append_new(processes, sliced);
    }
    json_object_set_new(slice, "processes", processes);
    json_object_set_new(slice, "metrics", slice_metrics(run, timeline->event));
    json_object_set_new(slice, "events", slice_events(&slicer, run));
    json_object_set_new(slice, "regions", json_array());
    json_object_set_new(slice, "range", range_of(&slicer));
    return slice;
}
