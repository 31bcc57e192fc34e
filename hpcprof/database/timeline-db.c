#include "hpcprof/database/thread-blocks.h"
#include "hpcprof/database/time-line-files.h"
#include "hpcprof/database/trace-places.h"

#include "lib/parallel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct timeline_job {
    const struct traced_threads *threads;
    const struct traced_nodes *logical, *physical; /* by thread; of the same nodes */
    struct node_index *index_of;                   /* by worker */
    struct trace_places *found; /* by worker: places of the threads it has looked at */
    struct trace_places places; /* of all records, sorted */
    uint64_t unit;
};

/* ---- records ---- */

/* The state and flags of a record in the database; `node` NULL: none. */
static unsigned state_of(const struct measurement_trace_record *record,
                         const struct traced_node *node)
{
    unsigned state = trace_state(record->amount), flags = record->amount & TRACE_WORKER;
    if (node && (state == TRACE_WORK || state == TRACE_OFF_CPU))
        flags |= node->flags;
    else if (node)
        flags |= node->flags & TRACE_IN_KERNEL;
    if (state == TRACE_WORK && flags & TRACE_AS_OVERHEAD)
        state = TRACE_OVERHEAD;
    else if (state == TRACE_WORK && flags & TRACE_AS_WAITING)
        state = TRACE_WAITING;
    return state | flags;
}

/* Whether a record pays what depends on the number of threads that work: wall time, or idleness. */
static bool depends_on_working(unsigned state)
{
    bool pays_wall = (state & TRACE_STATE_MASK) == TRACE_WORK || state & TRACE_AS_OVERHEAD ||
                     state & TRACE_AS_WAITING;
    return pays_wall || state & TRACE_WORKER;
}

static uint32_t at_least_one(uint32_t n)
{
    return n > 0 ? n : 1;
}

static struct timeline_place place_of(const struct measurement_trace_record *record, unsigned state,
                                      const struct traced_node *logical,
                                      const struct traced_node *physical)
{
    struct timeline_place place = {0};
    enum trace_state bare = trace_state(state);
    if (!trace_has_node(bare))
        return place;
    if (logical) {
        place.logical = logical->context;
        place.physical = physical->context;
        place.kind =
            state & TRACE_AS_OVERHEAD && logical->kind != NO_METRIC ? logical->kind + 1 : 0;
    }
    place.waiters = record->waiters;
    if (bare == TRACE_READY)
        return place;
    place.n = state & TRACE_WORKER ? record->n : 0;
    place.working = depends_on_working(state) ? at_least_one(record->working) : 0;
    return place;
}

/* A record of the database, whose place is a place and not yet an index. */
struct placed_record {
    struct timeline_place place;
    uint64_t amount;
};

static struct placed_record place_record(const struct timeline_job *job, unsigned worker,
                                         size_t index,
                                         const struct measurement_trace_record *record)
{
    size_t of = job->threads->all.at[index].index;
    uint32_t at = node_index_find(&job->index_of[worker], record->node);
    const struct traced_node *logical = at == NO_NODE ? NULL : &job->logical[of].at[at],
                             *physical = at == NO_NODE ? NULL : &job->physical[of].at[at];
    unsigned state = state_of(record, logical);
    return (struct placed_record){.place = place_of(record, state, logical, physical),
                                  .amount = trace_amount_word(trace_amount(record->amount), state)};
}

static bool is_same_place(const struct timeline_place *a, const struct timeline_place *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- places ---- */

static void find_places(void *context, unsigned worker, size_t index)
{
    const struct timeline_job *job = context;
    const struct traced_thread *thread = &job->threads->all.at[index];
    if (thread->is_elsewhere || !thread->n_records)
        return;
    node_index_of(&job->index_of[worker], &job->logical[thread->index]);
    struct timeline_place last = {.kind = UINT32_MAX};
    for (size_t i = 0; i < thread->n_records; i++) {
        struct placed_record placed =
            place_record(job, worker, index, &thread->thread->trace.at[i]);
        if (!is_same_place(&placed.place, &last))
            trace_places_add(&job->found[worker], &placed.place);
        last = placed.place;
    }
}

static void add_all(struct trace_places *places, const struct timeline_place *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        trace_places_add(places, &from[i]);
}

static void pack_places(void *data, struct team_bytes *bytes)
{
    const struct trace_places *places = data;
    bytes->n = 0;
    team_bytes_add(bytes, places->all.at, places->all.n * sizeof *places->all.at);
}

static void merge_places(void *data, const uint8_t *bytes, size_t size)
{
    const struct timeline_place *from = (const void *)bytes;
    add_all(data, from, size / sizeof *from);
}

/* All ranks get the places of all. */
static void share_places(struct trace_places *places)
{
    autofree struct team_bytes bytes = {0};
    team_reduce(places, pack_places, merge_places);
    pack_places(places, &bytes);
    team_broadcast(&bytes, 0);
    trace_places_free(places);
    *places = (struct trace_places){0};
    merge_places(places, bytes.at, bytes.n);
}

static void collect_places(struct timeline_job *job, unsigned workers)
{
    job->found = mem_alloc(workers * sizeof *job->found);
    parallel_for(job->threads->all.n, workers, find_places, job);
    job->places = job->found[0];
    for (unsigned i = 1; i < workers; i++) {
        add_all(&job->places, job->found[i].all.at, job->found[i].all.n);
        trace_places_free(&job->found[i]);
    }
    free(job->found);
    if (!team_is_alone())
        share_places(&job->places);
    trace_places_sort(&job->places);
}

/* ---- the file ---- */

/* Times after the end are of a damaged file. */
static uint32_t time_of(const struct timeline_job *job, const struct traced_thread *thread, uint64_t monotonic)
{
    uint64_t time = traced_time(job->threads, thread->to_epoch, monotonic);
    uint64_t length = job->threads->end - job->threads->begin;
    return (uint32_t)((time < length ? time : length) / job->unit);
}

/* Appends those of the thread. The threads of a file have adjacent indices. */
static void add_wake_ups(const struct timeline_job *job, const struct traced_thread *thread, struct team_bytes *bytes)
{
    autofree struct measurement_wake_up *found = mem_alloc(thread->n_wake_ups * sizeof *found);
    uint32_t first = thread->index - (uint32_t)(thread->thread - thread->m->threads.at);
    traced_wake_ups(thread->m, thread->thread, found);
    for (size_t i = 0; i < thread->n_wake_ups; i++) {
        const struct timeline_wake_up wake_up = {
            .time = time_of(job, thread, found[i].time),
            .began = time_of(job, thread, found[i].began),
            .released = time_of(job, thread, found[i].released),
            .profile = first + found[i].thread + 1,
        };
        team_bytes_add(bytes, &wake_up, sizeof wake_up);
    }
}

/* The records of a thread, then its wake-ups. */
static void make_block(void *context, unsigned worker, size_t index, struct team_bytes *bytes)
{
    const struct timeline_job *job = context;
    const struct traced_thread *thread = &job->threads->all.at[index];
    size_t size = thread->n_records * sizeof(struct timeline_record);
    node_index_of(&job->index_of[worker], &job->logical[thread->index]);
    vec_reserve(bytes, size);
    struct timeline_record *records = (void *)(bytes->at + bytes->n);
    struct timeline_place last = {.kind = UINT32_MAX};
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct measurement_trace_record *record = &thread->thread->trace.at[i];
        struct placed_record placed = place_record(job, worker, index, record);
        bool is_same = is_same_place(&placed.place, &last);
        records[i] = (struct timeline_record){
            .time = time_of(job, thread, record->time),
            .place =
                is_same ? records[i - 1].place : trace_places_find(&job->places, &placed.place),
            .amount = placed.amount,
        };
        last = placed.place;
    }
    bytes->n += size;
    add_wake_ups(job, thread, bytes);
}

static void write_blocks(struct timeline_job *job, struct file_writer *file, struct timeline_thread *listed,
                         struct timeline_wake_list *wake_lists, unsigned workers)
{
    size_t n = job->threads->all.n;
    uint64_t *sizes = mem_alloc(n * sizeof *sizes), *offsets = mem_alloc(n * sizeof *offsets);
    for (size_t i = 0; i < n; i++)
        sizes[i] = job->threads->all.at[i].n_records * sizeof(struct timeline_record) +
                   job->threads->all.at[i].n_wake_ups * sizeof(struct timeline_wake_up);
    const struct thread_blocks blocks = {job->threads, sizes, offsets, make_block, job};
    thread_blocks_write(&blocks, file, workers);
    for (size_t i = 0; i < n; i++) {
        const struct traced_thread *thread = &job->threads->all.at[i];
        listed[i].profile = thread->index + 1;
        listed[i].step = (uint32_t)thread->step;
        listed[i].records = offsets[i];
        listed[i].n_records = thread->n_records;
        wake_lists[i].wake_ups = offsets[i] + thread->n_records * sizeof(struct timeline_record);
        wake_lists[i].n_wake_ups = thread->n_wake_ups;
        wake_lists[i].step = thread->wake_up_step ? thread->wake_up_step : 1;
        wake_lists[i].window = thread->wake_up_window;
        wake_lists[i].first = traced_time(job->threads, thread->to_epoch, thread->m->process.monotonic);
    }
    free(sizes);
    free(offsets);
}

/* Writes the file: header, lists of threads and of their wake-ups, places, records. The first three are filled in at
 * the end. */
static void write_file(struct timeline_job *job, const char *path, unsigned workers)
{
    const struct traced_threads *threads = job->threads;
    bool is_time = event_is_time(&threads->measurements->events.at[threads->event]);
    struct timeline_header header = {
        .version = TIMELINE_VERSION,
        .event = threads->event,
        .shift = is_time ? TIME_SHIFT : 0,
        .n_threads = (uint32_t)threads->all.n,
        .n_places = job->places.all.n,
        .threads = sizeof header,
        .begin = threads->begin,
        .unit = job->unit,
    };
    autofree struct timeline_thread *listed = mem_alloc(threads->all.n * sizeof *listed);
    autofree struct timeline_wake_list *wake_lists = mem_alloc(threads->all.n * sizeof *wake_lists);
    struct file_writer file;
    memcpy(header.magic, TIMELINE_MAGIC, sizeof header.magic);
    file_create_shared(&file, path);
    file_write(&file, &header, sizeof header); /* placeholder */
    file_write(&file, listed, threads->all.n * sizeof *listed);
    header.wake_lists = file.offset;
    file_write(&file, wake_lists, threads->all.n * sizeof *wake_lists);
    header.places = file.offset;
    file_write(&file, job->places.all.at, job->places.all.n * sizeof *job->places.all.at);
    write_blocks(job, &file, listed, wake_lists, workers);
    file_patch(&file, 0, &header, sizeof header);
    file_patch(&file, header.threads, listed, threads->all.n * sizeof *listed);
    file_patch(&file, header.wake_lists, wake_lists, threads->all.n * sizeof *wake_lists);
    file_close(&file);
}

void timeline_db_write(const char *path, const struct traced_threads *threads,
                       const struct traced_nodes *logical, const struct traced_nodes *physical,
                       unsigned workers)
{
    struct timeline_job job = {
        .threads = threads,
        .logical = logical,
        .physical = physical,
        .index_of = mem_alloc(workers * sizeof *job.index_of),
        .unit = ((threads->end - threads->begin) >> 32) + 1,
    };
    collect_places(&job, workers);
    write_file(&job, path, workers);
    trace_places_free(&job.places);
    for (unsigned i = 0; i < workers; i++)
        node_index_free(&job.index_of[i]);
    free(job.index_of);
}
