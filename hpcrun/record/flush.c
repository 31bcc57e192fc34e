#include "hpcrun/record/flush.h"

#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/small-file.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/moment.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/thread/ready-time.h"
#include "hpcrun/thread/thread-image.h"
#include "lib/thread-chunks.h"

#include <sys/prctl.h>

static struct flush_totals totals;

const struct flush_totals *flush_totals(void)
{
    return &totals;
}

void flush_clear_totals(void)
{
    memset(&totals, 0, sizeof totals);
}

void flush_restore_ends(const struct flush_ends *before)
{
    totals.ends = *before;
}

static void add(uint64_t *total, uint64_t amount)
{
    __atomic_fetch_add(total, amount, __ATOMIC_RELAXED);
}

/* A thread of another process may have ended since its name was read. */
static void read_name(int tid, char *name, size_t room)
{
    char path[64];
    struct text text = TEXT(path);
    if (process.config.is_outside)
        return;
    memset(name, 0, room);
    if (tid == sys_gettid()) {
        sys2(SYS_prctl, PR_GET_NAME, name);
        return;
    }
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)tid);
    text_add(&text, "/comm");
    size_t size = small_file_read(path, name, room);
    if (size > 0 && name[size - 1] == '\n')
        name[size - 1] = '\0';
}

/* ---- what thread-chunks.h asks for ---- */

struct thread_writer {
    struct thread_chunks chunks; /* first */
    struct chunk chunk;
    const struct thread *thread;
};

static const void *item_of(struct thread_chunks *chunks, enum arena_array array, uint32_t index)
{
    const struct thread *thread = ((struct thread_writer *)chunks)->thread;
    switch (array) {
    case ARENA_NODES: return segments_item(&thread->cct.nodes, index);
    case ARENA_LNOTES: return segments_item(&thread->logical.lnotes.notes, index);
    case ARENA_TRACE: return segments_item(&thread->trace, index);
    case ARENA_MARKS: return segments_item(&thread->marks, index);
    case ARENA_WAKE_UPS: return segments_item(&thread->wake_ups, index);
    default: return segments_item(&thread->cct.values, index);
    }
}

static bool commit(struct thread_chunks *chunks)
{
    return chunk_commit(chunks->chunk);
}

static bool begin_writing(struct thread_writer *writer, struct thread *thread)
{
    writer->chunks = (struct thread_chunks){.image = thread->image,
                                            .chunk = &writer->chunk,
                                            .metrics = thread->cct.metrics,
                                            .item = item_of,
                                            .commit = commit};
    writer->thread = thread;
    return measurement_create() && chunk_memory(&writer->chunk);
}

/* ---- the parts ---- */

static bool write_identity(struct thread_writer *writer, struct thread *thread)
{
    if (thread->identity_written)
        return true;
    thread_image_identify(thread);
    if (!thread_image_take_name(thread))
        read_name(thread->tid, thread->image->name, sizeof thread->image->name);
    thread->identity_written = thread_chunks_identity(&writer->chunks);
    add(&totals.threads, thread->identity_written);
    return thread->identity_written;
}

/* Those of nodes with smaller ids. */
static void clear_values(struct cct *cct, uint32_t end)
{
    uint32_t node;
    for (uint32_t i = 0; i < cct->values.count; i++) {
        uint64_t *values = cct_values(cct, i, &node);
        if (node < end)
            memset(values, 0, cct->metrics * sizeof *values);
    }
}

/* Adds the samples that came after the stop: they count as fired, and as dropped. */
static void merge_missed(struct thread *thread, struct thread_event *event)
{
    uint64_t count = __atomic_exchange_n(&event->missed.count, 0, __ATOMIC_RELAXED);
    uint64_t amount = __atomic_exchange_n(&event->missed.amount, 0, __ATOMIC_RELAXED);
    if (count == 0 && amount == 0)
        return;
    thread_image_count(thread, event, FATE_FIRED, count, amount);
    thread_image_count(thread, event, FATE_DROPPED_ENDING, count, amount);
    thread_image_commit(thread, thread->image->ticks);
}

static void count_fates(const struct thread_event *event, unsigned which)
{
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        add(&totals.fates[which][slot].count, event->fates[slot].count);
        add(&totals.fates[which][slot].amount, event->fates[slot].amount);
    }
}

static void count_source(const struct thread_event *event, unsigned which)
{
    __atomic_fetch_or(&totals.sources[which], (uint8_t)(1u << event->opened_as), __ATOMIC_RELAXED);
}

static bool write_fates(struct thread_writer *writer, struct thread *thread, unsigned which)
{
    struct thread_event *event = &thread->events[which];
    merge_missed(thread, event);
    count_source(event, which);
    thread->image->source[which] = (uint8_t)event->opened_as;
    if (!thread_chunks_fates(&writer->chunks, which))
        return false;
    count_fates(event, which);
    return true;
}

/* The thread's clocks now, or at its end. */
static struct thread_clocks read_clocks(const struct thread *thread)
{
    uint64_t ended_wall = atomic_load(&thread->ended_wall);
    struct cpu_waits waits = ended_wall ? thread->ended_waits : cpu_waits_since_begin(thread);
    return (struct thread_clocks){
        .wall = ended_wall ? ended_wall : sys_clock(CLOCK_MONOTONIC),
        .cpu = ended_wall ? thread->ended_cpu : sys_clock(sys_thread_clock(thread->tid)),
        .ready = waits.ready + 1,
        .timeslices = waits.timeslices};
}

static void count_end(struct thread *thread, const struct thread_clocks *clocks)
{
    add(&totals.ends.cpu, clocks->cpu - thread->began_cpu);
    add(&totals.ends.wall, clocks->wall - thread->began_wall);
    add(&totals.ends.nodes, cct_end(&thread->cct));
    add(&totals.ends.node_bytes, cct_bytes(&thread->cct) + lnotes_bytes(&thread->logical.lnotes));
    add(&totals.ends.trees, cct_end(&thread->cct) > 0);
}

static bool write_clocks(struct thread_writer *writer, struct thread *thread, bool ended)
{
    struct thread_clocks clocks = read_clocks(thread);
    clocks.ended = ended;
    if (!thread_chunks_clocks(&writer->chunks, &clocks))
        return false;
    if (ended)
        count_end(thread, &clocks);
    return true;
}

static bool write_joins(struct thread_writer *writer, struct thread *thread)
{
    if (!thread_chunks_joins(&writer->chunks))
        return false;
    thread->image->join_count = 0;
    return true;
}

/* Wake-ups and a trace that is thinned are written at the end. One without a bound would fill the memory if there is no
 * arena file. */
static bool write_trace(struct thread_writer *writer, struct thread *thread, bool ended,
                        uint32_t *written)
{
    bool is_bounded = thread->trace_limit < TRACE_MAX_COUNT;
    if (shared_pages_are_lost())
        return true;
    const struct moment now = moment_now(NEAR_TICKS);
    const struct tick_times times = {process.began_ticks, process.began_wall, now.ticks, now.wall};
    return thread_chunks_marks(&writer->chunks, &times, &thread->marks_written) &&
           (!ended || thread_chunks_wake_ups(&writer->chunks, &times)) &&
           ((is_bounded && !ended) || thread_chunks_trace(&writer->chunks, &times, written));
}

bool flush_joins(struct thread *thread)
{
    struct thread_writer writer;
    if (!begin_writing(&writer, thread))
        return false;
    bool good = write_joins(&writer, thread);
    chunk_release(&writer.chunk);
    return good;
}

/* ---- all together ---- */

/* The part of a thread's data that is in the file, and not yet cleared in memory. */
struct written {
    uint32_t values; /* of nodes with smaller ids */
    uint32_t records; /* of the trace */
    unsigned events; /* fates of events with a smaller index */
};

/* From here on a reader takes the chunks instead of the image. Only then may the data that is in
 * them be cleared. */
static void settle(struct thread *thread, const struct written *written)
{
    thread_image_end(thread);
    clear_values(&thread->cct, written->values);
    for (unsigned i = 0; i < written->events; i++)
        memset(thread->events[i].fates, 0, FATE_SLOTS * sizeof *thread->events[i].fates);
    if (written->records)
        thread_image_clear_trace(thread);
}

/* Whether the image, which is in the arena file, has all that could not be written. */
static bool can_keep(struct thread *thread)
{
    return thread_image_is_live(thread) && thread_image_is_whole(thread) &&
           !shared_pages_are_lost();
}

/* The image stays live: counts what is in it, and renews its clocks. */
static void keep(struct thread *thread, const struct written *written)
{
    struct thread_clocks clocks = read_clocks(thread);
    thread->kept = true;
    arena_file_keep();
    if (thread->tid == sys_gettid())
        thread_image_look(thread, moment_now(NEAR_TICKS));
    for (unsigned i = written->events; i < thread->event_count; i++) {
        merge_missed(thread, &thread->events[i]);
        count_source(&thread->events[i], i);
        count_fates(&thread->events[i], i);
    }
    count_end(thread, &clocks);
    add(&totals.threads, !thread->identity_written);
}

static bool write_tree(struct thread_writer *writer, struct thread *thread, uint32_t *values)
{
    struct thread_chunks *chunks = &writer->chunks;
    return thread_chunks_nodes(chunks, &thread->cct.written) &&
           thread_chunks_associations(chunks) && thread_chunks_values(chunks, values);
}

bool flush_thread(struct thread *thread, bool ended)
{
    struct thread_writer writer;
    struct written written = {.values = 1};
    if (thread->kept)
        return false;
    shared_pages_check();
    if (!begin_writing(&writer, thread))
        return false;
    thread_image_commit(thread, thread->image->ticks);
    bool good = process_chunks_write_modules(&writer.chunk) &&
                process_chunks_write_agents(&writer.chunk) && write_identity(&writer, thread) &&
                write_tree(&writer, thread, &written.values) && write_joins(&writer, thread);
    for (; written.events < thread->event_count && good; written.events += good)
        good = write_fates(&writer, thread, written.events);
    good = good && write_trace(&writer, thread, ended, &written.records) &&
           write_clocks(&writer, thread, ended) &&
           (ended || process_chunks_write_clock(&writer.chunk, PROCESS_RUNNING, 0));
    if (!good && ended && can_keep(thread))
        keep(thread, &written);
    else
        settle(thread, &written);
    chunk_release(&writer.chunk);
    return good;
}
