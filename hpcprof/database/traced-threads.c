#include "hpcprof/database/traced-threads.h"

#include "hpcprof/team/team.h"

#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/hash-tables.h"
#include "lib/path.h"
#include "lib/trace-format.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- clocks ---- */

/* A time of CLOCK_MONOTONIC in ns since the epoch, which damaged clocks put at the ends of all times. */
static uint64_t since_epoch(uint64_t monotonic, int64_t to_epoch)
{
    uint64_t time = monotonic + (uint64_t)to_epoch;
    if (to_epoch < 0)
        return time < monotonic ? time : 0;
    return time >= monotonic ? time : UINT64_MAX;
}

/* What the processes of one host and one directory have in common. The caller frees. */
static char *clock_name(const struct measurement *m)
{
    return mem_printf("%" PRIu64 "\n%s\n%.*s", m->process.host_id, m->process.host,
                      (int)(path_base(m->path) - m->path), m->path);
}

static void find_clocks(struct traced_threads *threads)
{
    const struct measurements *measurements = threads->measurements;
    size_t n = measurements->files.n;
    struct strtab names = {0};
    autofree uint32_t *clock_of = mem_alloc(n * sizeof *clock_of);
    const struct measurement_process **first = mem_alloc(n * sizeof *first); /* by clock */
    for (size_t i = 0; i < n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        autofree char *name = clock_name(m);
        uint32_t clock = clock_of[i] = strtab_id(&names, name);
        if (m->process.known && (!first[clock] || m->process.monotonic < first[clock]->monotonic))
            first[clock] = &m->process;
    }
    threads->to_epoch = mem_alloc(n * sizeof *threads->to_epoch);
    for (size_t i = 0; i < n; i++) {
        const struct measurement_process *p = first[clock_of[i]];
        threads->to_epoch[i] = p ? (int64_t)(p->realtime - p->monotonic) : NO_CLOCK;
    }
    free(first);
    strtab_free(&names);
}

/* ---- wake-ups ---- */

/* The number of threads with a smaller index, which is that of the thread if it is there. */
static size_t position_of(const struct measurement *m, uint64_t index)
{
    return partition_point(i, m->threads.n, m->threads.at[i].index < index);
}

size_t traced_wake_ups(const struct measurement *m, const struct measurement_thread *thread,
                       struct measurement_wake_up *wake_ups)
{
    size_t n = 0;
    for (size_t i = 0; i <= thread->wake_ups.n; i++) {
        uint64_t begin = thread->first_monotonic;
        struct measurement_wake_up wake_up = {begin, begin, begin, (uint32_t)thread->creator - 1};
        if (i > 0)
            wake_up = thread->wake_ups.at[i - 1];
        size_t waker = position_of(m, wake_up.thread);
        const struct measurement_thread *by = &m->threads.at[waker];
        if (waker == m->threads.n || by->index != wake_up.thread || !by->known || by == thread)
            continue;
        wake_up.thread = (uint32_t)waker;
        if (wake_ups)
            wake_ups[n] = wake_up;
        n++;
    }
    return n;
}

/* ---- records ---- */

/* What all ranks have to know of the records and wake-ups of a thread: zeros if it has none. */
struct trace_summary {
    uint64_t n_records, step;
    uint64_t event; /* index in measurements.events, + 1 */
    uint64_t last;  /* time of the last record, CLOCK_MONOTONIC */
    uint64_t n_wake_ups, wake_up_step, wake_up_window;
};

static struct trace_summary summarize(const struct measurement_file *file,
                                      const struct measurement_thread *thread)
{
    struct trace_summary summary = {0};
    if (file->is_elsewhere || !thread->known)
        return summary;
    summary.n_wake_ups = traced_wake_ups(file->m, thread, NULL);
    summary.wake_up_step = thread->wake_up_step;
    summary.wake_up_window = thread->wake_up_window;
    if (!thread->trace.n)
        return summary;
    summary.n_records = thread->trace.n;
    summary.step = thread->trace_step;
    summary.event = UINT64_C(1) + file->event_of[thread->trace_event];
    summary.last = thread->trace.at[thread->trace.n - 1].time;
    return summary;
}

/* The summaries of the threads of all files. The caller frees. */
static struct trace_summary *share_summaries(const struct measurements *measurements)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < measurements->files.n; i++)
        n += measurements->files.at[i].m->threads.n;
    struct trace_summary *summaries = mem_alloc((n + 1) * sizeof *summaries);
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_file *file = &measurements->files.at[i];
        for (size_t k = 0; k < file->m->threads.n; k++)
            summaries[at++] = summarize(file, &file->m->threads.at[k]);
    }
    team_sum(&summaries[0].n_records, n * sizeof *summaries / sizeof(uint64_t));
    return summaries;
}

/* ---- the event ---- */

static int rank_of(const struct event *event)
{
    return event->flags & EVENT_WALL_CLOCK ? 2 : event->flags & EVENT_TIME ? 1 : 0;
}

static bool is_better(const struct measurements *measurements, uint32_t event, uint32_t than)
{
    int rank = rank_of(&measurements->events.at[event]),
        other = rank_of(&measurements->events.at[than]);
    return rank > other || (rank == other && event < than);
}

/* Chooses the event as hpcrun does, and leaves out the records of others: processes of different runs may have
 * traced different ones. */
static void choose_event(struct traced_threads *threads, struct trace_summary *summaries, size_t n)
{
    size_t others = 0;
    threads->event = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t event = (uint32_t)summaries[i].event - 1;
        if (summaries[i].n_records && (threads->event == UINT32_MAX ||
                                       is_better(threads->measurements, event, threads->event)))
            threads->event = event;
    }
    for (size_t i = 0; i < n; i++)
        if (summaries[i].n_records && summaries[i].event != UINT64_C(1) + threads->event) {
            summaries[i].n_records = 0;
            others++;
        }
    if (others)
        diag_note(
            NULL,
            "the time line has the records of %s; those of other events, which %zu thread%s, are left out",
            threads->measurements->events.at[threads->event].name, others,
            others == 1 ? " has" : "s have");
}

/* ---- all together ---- */

static void extend(struct traced_threads *threads, uint64_t begin, uint64_t end)
{
    threads->begin = begin < threads->begin ? begin : threads->begin;
    threads->end = end > threads->end ? end : threads->end;
}

/* Lists the threads of a file; `index` is that of its first one. */
static void add_threads(struct traced_threads *threads, size_t file, size_t index,
                        const struct trace_summary *summaries)
{
    const struct measurement_file *of = &threads->measurements->files.at[file];
    int64_t to_epoch = threads->to_epoch[file];
    if (to_epoch == NO_CLOCK)
        return;
    uint64_t begin = since_epoch(of->m->process.monotonic, to_epoch);
    if (of->m->process.known)
        extend(threads, begin, begin);
    for (size_t k = 0; k < of->m->threads.n; k++) {
        const struct measurement_thread *thread = &of->m->threads.at[k];
        const struct trace_summary *summary = &summaries[index + k];
        if (!thread->known)
            continue;
        const struct traced_thread traced = {
            .index = (uint32_t)(index + k),
            .is_elsewhere = of->is_elsewhere,
            .m = of->m,
            .thread = thread,
            .n_wake_ups = summary->n_wake_ups,
            .wake_up_step = summary->wake_up_step,
            .wake_up_window = summary->wake_up_window,
            .n_records = summary->n_records,
            .step = summary->n_records ? summary->step : 1,
            .to_epoch = to_epoch,
        };
        vec_push(&threads->all, traced);
        extend(threads, since_epoch(thread->first_monotonic, to_epoch),
               since_epoch(thread->last_monotonic > summary->last ? thread->last_monotonic
                                                                  : summary->last,
                           to_epoch));
    }
}

bool traced_threads_find(struct traced_threads *threads, const struct measurements *measurements)
{
    *threads = (struct traced_threads){.measurements = measurements, .begin = UINT64_MAX};
    size_t n = 0;
    uint64_t n_records = 0;
    autofree struct trace_summary *summaries = share_summaries(measurements);
    find_clocks(threads);
    for (size_t i = 0; i < measurements->files.n; i++)
        n += measurements->files.at[i].m->threads.n;
    choose_event(threads, summaries, n);
    for (size_t i = 0, index = 0; i < measurements->files.n; i++) {
        add_threads(threads, i, index, summaries);
        index += measurements->files.at[i].m->threads.n;
    }
    for (size_t i = 0; i < threads->all.n; i++)
        n_records += threads->all.at[i].n_records;
    return n_records > 0;
}

void traced_threads_free(struct traced_threads *threads)
{
    vec_free(&threads->all);
    free(threads->to_epoch);
}

uint64_t traced_time(const struct traced_threads *threads, int64_t to_epoch, uint64_t monotonic)
{
    uint64_t time = since_epoch(monotonic, to_epoch);
    return time > threads->begin ? time - threads->begin : 0;
}
