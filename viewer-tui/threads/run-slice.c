#include "viewer-tui/threads/run-slice.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-slice.h"

#include <math.h>
#include <string.h>

#define NANOS 1e9

/* What becomes of samples: their names in the fates of a thread's event, and their counts in a process. */
enum { FIRED, RECORDED, IDLE, NOBODY_WORKING, DROPPED, FATES };

static const struct {
    const char *name, *count;
} fate_names[FATES] = {
    [FIRED] = {"fired", "samples"},
    [RECORDED] = {"recorded", "recorded"},
    [IDLE] = {"idle thread", "idle"},
    [NOBODY_WORKING] = {"nobody working", "nobody_working"},
    [DROPPED] = {"dropped: for any reason", NULL},
};

/* What the records of a thread say, or those of all threads of a process. */
struct sampled_times {
    double cpu, ready, fates[FATES]; /* seconds, or counts */
    uint64_t counts[FATES];
    bool has_records;
};

struct slicer {
    const struct timeline *timeline;
    const time_ranges *ranges;
    double from, to; /* seconds: of the first and the last */
    bool is_wall_time; /* of the traced event */
    double amount, squares; /* of all records */
    uint64_t n_records;
    uint32_t step;
    double process_begin; /* of the process that is being sliced, in the time line, */
    struct sampled_times process, thread; /* its threads so far, and the thread that is being sliced */
};

/* Changes an object; false: it is left out. */
typedef bool slice_object(struct slicer *slicer, json_t *object);

/* An array of changed copies of the objects in an array. */
static json_t *slice_each(struct slicer *slicer, const json_t *array, slice_object *slice)
{
    json_t *sliced = json_array();
    json_each (object, array) {
        json_t *copy = json_copy(object);
        if (slice(slicer, copy))
            json_array_append_new(sliced, copy);
        else
            json_decref(copy);
    }
    return sliced;
}

static void set(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, json_real(value));
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
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

/* ---- threads ---- */

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

static struct sampled_times times_of(struct slicer *slicer, uint32_t profile)
{
    struct state_sums sums = {0};
    struct sampled_times times = {0};
    const struct timeline_thread *thread = timeline_thread(slicer->timeline, profile);
    if (!thread)
        return times;
    for (size_t i = 0; i < slicer->ranges->n; i++)
        state_sums_add(&sums, slicer->timeline, thread, slicer->ranges->at[i]);
    for (enum trace_state state = 0; state < TRACE_STATES; state++) {
        double amount = timeline_amount(slicer->timeline, (double)sums.amounts[state]);
        int fate = fate_of(state);
        times.fates[fate] += amount;
        times.counts[fate] += sums.counts[state];
        times.cpu += timeline_amount(slicer->timeline, (double)on_cpu(slicer, &sums, state));
        times.ready += state == TRACE_READY ? amount : 0;
        times.has_records |= sums.amounts[state] > 0;
        slicer->amount += amount;
    }
    for (int fate = FIRED + 1; fate < FATES; fate++) {
        times.fates[FIRED] += times.fates[fate];
        times.counts[FIRED] += times.counts[fate];
    }
    slicer->n_records += times.counts[FIRED];
    slicer->squares += sums.squares;
    slicer->step = times.has_records && thread->step > slicer->step ? thread->step : slicer->step;
    return times;
}

/* The traced event of a thread; of the others nothing is known. */
static bool slice_event_of_thread(struct slicer *slicer, json_t *event)
{
    const struct sampled_times *times = &slicer->thread;
    json_t *fates = json_object();
    for (int fate = FIRED; fate < FATES; fate++)
        if (fate == FIRED || times->fates[fate] > 0)
            json_object_set_new(fates, fate_names[fate].name,
                                json_pack("{s: I, s: f}", "count", (json_int_t)times->counts[fate], "amount",
                                          times->fates[fate]));
    set_count(event, "samples", times->counts[FIRED]);
    json_object_set_new(event, "fates", fates);
    return strcmp(run_text(event, "event"), slicer->timeline->event) == 0;
}

/* The seconds of a life in the pieces of time. */
static double overlap(const struct slicer *slicer, double begin, double wall)
{
    double sum = 0;
    for (size_t i = 0; i < slicer->ranges->n; i++) {
        double from = (double)slicer->ranges->at[i].from / NANOS, to = (double)slicer->ranges->at[i].to / NANOS;
        sum += fmax(fmin(begin + wall, to) - fmax(begin, from), 0);
    }
    return sum;
}

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

/* False: it did not live then. */
static bool slice_thread(struct slicer *slicer, json_t *thread)
{
    struct sampled_times *times = &slicer->thread, *process = &slicer->process;
    double begin = slicer->process_begin + run_number(thread, "begin");
    double left = overlap(slicer, begin, run_number(thread, "wall"));
    *times = times_of(slicer, (uint32_t)run_number(thread, "profile"));
    if (left == 0 && !times->has_records)
        return false;
    if (slicer->is_wall_time)
        set_number(thread, "ready", true, times->ready);
    else
        slice_waits_for_cpu(slicer, thread, slicer->timeline->is_time ? times->cpu : 0, left);
    set_number(thread, "begin", true, fmax(begin, slicer->from) - fmax(slicer->process_begin, slicer->from));
    set_number(thread, "wall", true, left);
    set_number(thread, "cpu", slicer->timeline->is_time, times->cpu);
    json_object_set_new(thread, "events", slice_each(slicer, json_object_get(thread, "events"), slice_event_of_thread));
    process->cpu += times->cpu;
    process->ready += run_number(thread, "ready");
    for (int fate = FIRED; fate < FATES; fate++)
        process->counts[fate] += times->counts[fate];
    return true;
}

/* ---- the run ---- */

/* False: it has no threads that lived then. */
static bool slice_process(struct slicer *slicer, json_t *process)
{
    struct sampled_times *times = &slicer->process;
    double wall = run_number(process, "wall");
    *times = (struct sampled_times){0};
    slicer->process_begin = run_number(process, "time_line_begin");
    json_t *threads = slice_each(slicer, json_object_get(process, "threads"), slice_thread);
    double left = overlap(slicer, slicer->process_begin, wall);
    set_number(process, "wall", true, left);
    set_number(process, "cpu", slicer->timeline->is_time, times->cpu);
    set_number(process, "ready", true, times->ready);
    multiply(process, "throttled", wall > 0 ? fmin(left / wall, 1) : 0);
    set_number(process, "startup_cpu", false, 0);
    set_number(process, "unsampled_cpu", false, 0);
    json_t *dropped = json_object();
    if (times->counts[DROPPED])
        set_count(dropped, "for any reason", times->counts[DROPPED]);
    for (int fate = FIRED; fate < DROPPED; fate++)
        set_count(process, fate_names[fate].count, times->counts[fate]);
    json_object_set_new(process, "dropped", dropped);
    json_object_set_new(process, "partial", json_object());
    json_object_set_new(process, "threads", threads);
    return json_array_size(threads) > 0;
}

static bool slice_metric(struct slicer *slicer, json_t *metric)
{
    const char *event = slicer->timeline->event;
    bool is_measured = metric_state_of(run_text(metric, "state")) != METRIC_NOT_MEASURED;
    if (is_measured && record_metric_of(metric, event) == RECORD_METRICS) {
        autofree char *why = mem_printf("it is known for the whole run only: the time line has the samples of %s", event);
        json_object_set_new(metric, "state", json_string(metric_state_name(METRIC_NOT_MEASURED)));
        json_object_set_new(metric, "why", json_string(why));
    }
    return true;
}

static bool slice_event(struct slicer *slicer, json_t *event)
{
    double scale = timeline_amount(slicer->timeline, 1);
    if (slicer->amount > 0 && strcmp(run_text(event, "name"), slicer->timeline->event) == 0)
        set(event, "increment", slicer->squares * scale * scale / slicer->amount);
    return true;
}

static json_t *range_of(const struct slicer *slicer)
{
    json_t *range = json_object();
    set(range, "from", slicer->from);
    set(range, "to", slicer->to);
    set_count(range, "records", slicer->n_records);
    set_count(range, "step", slicer->step);
    if (slicer->ranges->n > 1) {
        set_count(range, "pieces", slicer->ranges->n);
        set(range, "length", overlap(slicer, slicer->from, slicer->to - slicer->from));
    }
    return range;
}

json_t *run_slice(const json_t *run, const struct timeline *timeline, const time_ranges *ranges)
{
    static const struct {
        const char *key;
        slice_object *slice;
    } arrays[] = {{"processes", slice_process}, {"metrics", slice_metric}, {"events", slice_event}};
    struct time_range span = time_ranges_span(ranges);
    json_t *slice = json_copy((json_t *)run);
    struct slicer slicer = {.timeline = timeline,
                            .ranges = ranges,
                            .from = (double)span.from / NANOS,
                            .to = (double)span.to / NANOS,
                            .is_wall_time = timeline_has_waits(timeline)};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        json_object_set_new(slice, arrays[i].key, slice_each(&slicer, json_object_get(run, arrays[i].key), arrays[i].slice));
    json_object_set_new(slice, "regions", json_array());
    json_object_set_new(slice, "range", range_of(&slicer));
    return slice;
}
