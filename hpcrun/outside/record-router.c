#include "hpcrun/outside/record-router.h"

#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/frame-catcher.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/outside/traced-processes.h"

#include <string.h>

static struct {
    bool gains_rights, has_waits;
    bool has_begun; /* a given process has executed its program */
    struct record_counts counts;
} router;

void record_router_init(bool gains_rights, bool has_waits)
{
    router.gains_rights = gains_rights;
    router.has_waits = has_waits;
}

bool record_router_saw_exec(void)
{
    return router.has_begun;
}

struct record_counts record_router_take_counts(void)
{
    const struct record_counts counts = router.counts;
    router.counts.samples = 0;
    return counts;
}

static void on_begin(const struct task_record *task)
{
    struct traced *parent = traced_find((int)task->parent), *process = traced_find((int)task->pid);
    router.counts.thread_begun = task->time;
    if (task->pid == task->parent) {
        if (process)
            process->threads++;
        if (process && process->queue)
            record_queue_put(process->queue, &task->header);
        return;
    }
    router.counts.program_begun = task->time;
    if (process) { /* another one with this number, whose end was lost */
        image_worker_end(process, QUEUE_PROCESS_ENDED);
        traced_remove(process);
    }
    if (!parent) /* a thread of the kernel, or one of hpcrun's processes */
        return;
    process = traced_add((int)task->pid, task->time);
    if (!process) {
        image_workers_counts()->unmeasured[LACKS_ROOM]++;
        return;
    }
    process->threads = 1;
    process->parent = (int)task->parent;
    process->forked = task->time;
    memcpy(process->name, parent->name, sizeof process->name);
    traced_maps_share(process, parent);
}

static void on_exec(struct traced *process, const char name[PROCESS_NAME], uint64_t time)
{
    image_worker_end(process, QUEUE_EXEC);
    if (strcmp(name, OUTSIDE_PROGRAM) == 0) { /* what it measures is its own */
        traced_remove(process);
        return;
    }
    traced_maps_clear(process);
    process->began = time;
    if (!process->is_given || process->has_exec || router.has_waits)
        router.counts.program_begun = router.counts.thread_begun = time;
    process->has_exec = true;
    memcpy(process->name, name, sizeof process->name);
    router.has_begun |= process->is_given;
    if (process->is_given && !router.gains_rights)
        image_worker_begin(process);
}

static void on_end(struct traced *process)
{
    if (!process->forked || --process->threads > 0) /* of others, the number of threads is not known */
        return;
    image_workers_counts()->without_sample += process->images == 0 && !process->queue && !process->lack;
    image_worker_end(process, QUEUE_PROCESS_ENDED);
    traced_remove(process);
}

static void on_map(struct traced *process, const struct perf_event_header *record)
{
    static struct mapping mapping;
    perf_record_mapping(record, &mapping);
    if (mapping_is_module(&mapping))
        traced_map_add(process, &mapping, record);
    else
        traced_maps_replace(process, &mapping);
}

/* A sample, or a thread that waits. */
static bool is_worth_a_worker(const struct perf_event_header *record)
{
    const unsigned left = PERF_RECORD_MISC_SWITCH_OUT, preempted = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    return record->type == PERF_RECORD_SAMPLE ||
           (record->type == PERF_RECORD_SWITCH && (record->misc & (left | preempted)) == left);
}

/* After the sample, what was read at its instant. */
static void put_caught(struct traced *process, const struct perf_event_header *sample)
{
    const struct caught *caught = perf_rings_are_full() ? NULL : catchers_take(sample);
    if (!caught)
        return;
    record_queue_put(process->queue, &caught->header);
    process->caught_until = caught->ended > process->caught_until ? caught->ended : process->caught_until;
    catchers_release();
}

/* Whether a record is only for proofs, and there is none that needs it. */
static bool is_needless(const struct traced *process, const struct perf_event_header *record)
{
    bool is_for_waits = record->type == PERF_RECORD_SWITCH && router.has_waits;
    bool is_of_switch = record->type == PERF_RECORD_SWITCH || perf_record_is_switch(record);
    return is_of_switch && !is_for_waits && perf_record_time(record) > process->caught_until;
}

static void route(const struct perf_event_header *record)
{
    char name[PROCESS_NAME];
    if (record->type == PERF_RECORD_LOST) {
        stack_copies_lose(perf_record_lost(record));
        if (perf_events_count_losses()) /* image_worker_end */
            return;
    }
    const struct task_record *begun = perf_record_begin(record);
    if (begun) {
        on_begin(begun);
        return;
    }
    struct traced *process = traced_find(perf_record_pid(record));
    if (!process)
        return;
    if (record->type == PERF_RECORD_MMAP2)
        on_map(process, record);
    if (perf_record_is_exec(record, name)) {
        on_exec(process, name, perf_record_time(record));
        return;
    }
    if (is_needless(process, record))
        return;
    if (!process->queue && is_worth_a_worker(record))
        image_worker_begin(process);
    if (process->queue)
        record_queue_put(process->queue, record);
    bool is_sample = record->type == PERF_RECORD_SAMPLE && !perf_record_is_switch(record);
    router.counts.samples += is_sample;
    if (process->is_caught && is_sample)
        put_caught(process, record);
    if (record->type == PERF_RECORD_EXIT)
        on_end(process);
}

static bool has_room(const struct perf_event_header *record)
{
    const struct traced *process = record->type == PERF_RECORD_SAMPLE ? traced_find(perf_record_pid(record)) : NULL;
    return !process || !process->queue || record_queue_has_room(process->queue, record);
}

bool record_route(const struct perf_event_header *record, bool is_urgent)
{
    if (!perf_events_have(record))
        return true;
    if (!is_urgent && !has_room(record))
        return false;
    route(record);
    return true;
}
