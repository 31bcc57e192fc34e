#include "hpcprof/database/thread-blocks.h"
#include "hpcprof/database/time-line-files.h"
#include "hpcprof/database/v4-file.h"

#include "lib/parallel.h"
#include "lib/trace-format.h"

#include <stdlib.h>
#include <string.h>

/* The elements of one thread, each next to a different context. The last one may still change. */
struct element_list {
    struct team_bytes *bytes; /* they are appended; NULL: they are only counted */
    uint64_t n, first, last;  /* their number; times of the first and of the last one */
    uint32_t context;         /* of the last one that was added; 0: none, or none was */
    struct v4_trace_element pending;
    bool has_pending;
};

/* What the file's header needs of a thread: zeros if it has no elements. */
struct element_extent {
    uint64_t n, first, last;
};

/* Time without records that is longer than this many periods is not the context's before it. */
#define LONGEST_PERIODS 2

struct trace_job {
    const struct traced_threads *threads;
    const struct traced_nodes *nodes; /* by thread */
    struct node_index *index_of;      /* by worker */
    struct element_extent *extents;   /* by thread */
    bool is_time;
    uint64_t longest; /* of a gap, for each sample of a record, ns */
};

/* ---- elements ---- */

static void add_pending(struct element_list *list)
{
    if (!list->has_pending || list->pending.context_id == list->context)
        return;
    if (list->n == 0)
        list->first = list->pending.time;
    list->n++;
    list->last = list->pending.time;
    list->context = list->pending.context_id;
    if (list->bytes)
        team_bytes_add(list->bytes, &list->pending, sizeof list->pending);
}

/* From `time` on, the thread is in a context. Of several at the same time the last one counts. */
static void enter(struct element_list *list, uint64_t time, uint32_t context)
{
    if (!list->has_pending || list->pending.time != time)
        add_pending(list);
    list->pending = (struct v4_trace_element){.time = time, .context_id = context};
    list->has_pending = true;
}

/* A time of CLOCK_MONOTONIC in ns since the epoch. */
static uint64_t time_of(const struct trace_job *job, const struct traced_thread *thread,
                        uint64_t monotonic)
{
    return job->threads->begin + traced_time(job->threads, thread->to_epoch, monotonic);
}

/* The records of a thread from `at` on that have the same time: one after the one returned. Sums up their
 * amounts. */
static size_t end_of_sample(const struct traced_thread *thread, size_t at, uint64_t *amount)
{
    uint64_t time = thread->thread->trace.at[at].time;
    for (*amount = 0; at < thread->n_records && thread->thread->trace.at[at].time == time; at++)
        *amount += trace_amount(thread->thread->trace.at[at].amount);
    return at;
}

/* Where what the records are about begins, if it ends at `end`; the records before it end at `before`, where the
 * thread begins if there are none. An amount that is no time says nothing about that. */
static uint64_t begin_of(const struct trace_job *job, const struct traced_thread *thread,
                         struct element_list *list, uint64_t before, uint64_t end, uint64_t amount)
{
    uint64_t length = amount >> TIME_SHIFT;
    uint64_t begin = length < end ? end - length : 0;
    if (!job->is_time || begin <= before)
        return before;
    if (!list->has_pending)
        return begin;
    if (begin - before <= job->longest * thread->step)
        return before;
    enter(list, before, 0);
    return begin;
}

static uint32_t context_of(const struct trace_job *job, unsigned worker, size_t thread,
                           const struct measurement_trace_record *record)
{
    if (!trace_has_node(trace_state(record->amount)))
        return 0;
    uint32_t at = node_index_find(&job->index_of[worker], record->node);
    return at == NO_NODE ? 0 : job->nodes[thread].at[at].context;
}

static void list_elements(const struct trace_job *job, unsigned worker,
                          const struct traced_thread *thread, struct element_list *list)
{
    const struct measurement_trace_record *records = thread->thread->trace.at;
    uint64_t before = time_of(job, thread, thread->thread->first_monotonic);
    node_index_of(&job->index_of[worker], &job->nodes[thread->index]);
    for (size_t i = 0; i < thread->n_records;) {
        uint64_t amount, end = time_of(job, thread, records[i].time);
        size_t next = end_of_sample(thread, i, &amount);
        uint64_t at = begin_of(job, thread, list, before, end, amount);
        for (; i < next; i++) {
            const struct measurement_trace_record *record = &records[i];
            enter(list, at, context_of(job, worker, thread->index, record));
            uint64_t length = job->is_time ? trace_amount(record->amount) >> TIME_SHIFT : 0;
            at = length < end - at ? at + length : end;
        }
        before = end;
    }
    enter(list, before, 0);
    add_pending(list);
}

/* ---- threads ---- */

static void measure_thread(void *context, unsigned worker, size_t index)
{
    const struct trace_job *job = context;
    const struct traced_thread *thread = &job->threads->all.at[index];
    struct element_list list = {0};
    if (thread->is_elsewhere || !thread->n_records)
        return;
    list_elements(job, worker, thread, &list);
    job->extents[index] = (struct element_extent){list.n, list.first, list.last};
}

static void make_elements(void *context, unsigned worker, size_t index, struct team_bytes *bytes)
{
    const struct trace_job *job = context;
    struct element_list list = {.bytes = bytes};
    list_elements(job, worker, &job->threads->all.at[index], &list);
}

/* ---- the file ---- */

/* Fills in the headers of the threads with elements. */
static void fill_traces(const struct trace_job *job, struct v4_traces *head,
                        struct v4_trace *traces, const uint64_t *sizes, const uint64_t *offsets)
{
    uint32_t n = 0;
    head->min_time = UINT64_MAX;
    for (size_t i = 0; i < job->threads->all.n; i++) {
        const struct element_extent *extent = &job->extents[i];
        if (!extent->n)
            continue;
        traces[n].profile = job->threads->all.at[i].index + 1;
        traces[n].start = offsets[i];
        traces[n++].end = offsets[i] + sizes[i];
        head->min_time = extent->first < head->min_time ? extent->first : head->min_time;
        head->max_time = extent->last > head->max_time ? extent->last : head->max_time;
    }
    if (n == 0)
        head->min_time = 0;
}

static uint32_t count_traces(const struct trace_job *job)
{
    uint32_t n = 0;
    for (size_t i = 0; i < job->threads->all.n; i++)
        n += job->extents[i].n > 0;
    return n;
}

static void write_file(struct trace_job *job, const char *path, unsigned workers)
{
    struct file_writer file;
    struct v4_section section;
    size_t n = job->threads->all.n;
    uint32_t n_traces = count_traces(job);
    uint64_t *sizes = mem_alloc(n * sizeof *sizes), *offsets = mem_alloc(n * sizeof *offsets);
    autofree struct v4_trace *traces = mem_alloc(n_traces * sizeof *traces);
    struct v4_traces head;
    memset(&head, 0, sizeof head);
    for (size_t i = 0; i < n; i++)
        sizes[i] = job->extents[i].n * sizeof(struct v4_trace_element);
    v4_create_shared(&file, path, V4_TRACE_FORMAT, V4_TRACE_SECTIONS);
    section.at = file_align(&file, 8);
    head.traces = section.at + sizeof head;
    head.n_traces = n_traces;
    head.trace_size = sizeof *traces;
    file_write(&file, &head, sizeof head); /* placeholders, until the elements have their places */
    file_write(&file, traces, n_traces * sizeof *traces);
    section.size = file.offset - section.at;
    const struct thread_blocks blocks = {job->threads, sizes, offsets, make_elements, job};
    thread_blocks_write(&blocks, &file, workers);
    fill_traces(job, &head, traces, sizes, offsets);
    file_patch(&file, section.at, &head, sizeof head);
    file_patch(&file, head.traces, traces, n_traces * sizeof *traces);
    v4_close(&file, V4_TRACE_FOOTER, &section, V4_TRACE_SECTIONS);
    free(sizes);
    free(offsets);
}

void trace_db_write(const char *path, const struct traced_threads *threads,
                    const struct traced_nodes *nodes, unsigned workers)
{
    const struct event *event = &threads->measurements->events.at[threads->event];
    size_t n = threads->all.n;
    struct trace_job job = {
        .threads = threads,
        .nodes = nodes,
        .index_of = mem_alloc(workers * sizeof *job.index_of),
        .extents = mem_alloc(n * sizeof *job.extents),
        .is_time = event_is_time(event),
        .longest = LONGEST_PERIODS * event->period,
    };
    parallel_for(n, workers, measure_thread, &job);
    team_sum(&job.extents[0].n, n * sizeof *job.extents / sizeof(uint64_t));
    write_file(&job, path, workers);
    for (unsigned i = 0; i < workers; i++)
        node_index_free(&job.index_of[i]);
    free(job.index_of);
    free(job.extents);
}
