#include "hpcrun/record/flush.h"

#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/small-file.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/thread/ready-time.h"
#include "hpcrun/thread/thread-image.h"

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

static void read_name(int tid, char *name, size_t room)
{
    char path[64];
    struct text text = TEXT(path);
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

static bool write_identity(struct chunk *chunk, struct thread *thread)
{
    if (thread->identity_written)
        return true;
    char name[32];
    read_name(thread->tid, name, sizeof name);
    chunk_begin(chunk, CHUNK_THREAD, thread->index);
    chunk_v(chunk, (uint64_t)thread->tid);
    chunk_v(chunk, thread->kind);
    chunk_str(chunk, name);
    chunk_v(chunk, thread->creator);
    chunk_v(chunk, thread->creation_node);
    chunk_v(chunk, thread->began_wall);
    chunk_v(chunk, thread->began_cpu);
    chunk_v(chunk, ip_instance(thread->start_ip));
    chunk_v(chunk, ip_offset(thread->start_ip));
    thread->identity_written = chunk_commit(chunk);
    add(&totals.threads, thread->identity_written);
    return thread->identity_written;
}

static void add_lnote(struct chunk *chunk, const struct lnote *note)
{
    chunk_v(chunk, ip_space(note->value));
    chunk_v(chunk, ip_offset(note->value));
    chunk_v(chunk, note->site ? ip_offset(note->site) + 1 : 0);
}

static void add_node(struct chunk *chunk, uint32_t id, const struct cct_node *node,
                     const struct lnotes *lnotes)
{
    unsigned tag = node->association | (node->first ? NODE_FIRST_OF_BICHORD : 0u) |
                   (node->ip ? NODE_HAS_IP : 0u) | (node->lip == LIP_IS_IP ? NODE_LIP_IS_IP : 0u) |
                   (node->lip >= LIP_OWN ? NODE_HAS_LIP : 0u);
    chunk_v(chunk, id - node->parent);
    chunk_u8(chunk, (uint8_t)tag);
    if (node->ip) {
        chunk_v(chunk, ip_instance(node->ip));
        chunk_v(chunk, ip_offset(node->ip));
    }
    if (node->lip >= LIP_OWN)
        add_lnote(chunk, lnotes_get(lnotes, node->lip));
}

/* Bytes of a node at most: four numbers of 32 bits, three of 64, and its tag. */
#define NODE_BYTES      (4 * 5 + 3 * VARINT_MAX_BYTES + 1)
#define NODES_PER_CHUNK ((CHUNK_BYTES - CHUNK_SLACK) / NODE_BYTES)

static bool write_nodes(struct chunk *chunk, struct thread *thread)
{
    struct cct *cct = &thread->cct;
    while (cct->written < cct_end(cct)) {
        uint32_t first = cct->written, count = cct_end(cct) - first;
        if (count > NODES_PER_CHUNK)
            count = NODES_PER_CHUNK;
        chunk_begin(chunk, CHUNK_NODES, thread->index);
        chunk_v(chunk, first);
        chunk_v(chunk, count);
        for (uint32_t id = first; id < first + count; id++)
            add_node(chunk, id, cct_node(cct, id), &thread->logical.lnotes);
        if (!chunk_commit(chunk))
            return false;
        cct->written = first + count;
    }
    return true;
}

/* The number of nodes whose set of associations has grown since they were written. */
static uint32_t count_associations(struct cct *cct)
{
    uint32_t count = 0;
    for (uint32_t id = 1; id < cct_end(cct); id++)
        count += cct_node(cct, id)->seen_changed;
    return count;
}

static bool write_associations(struct chunk *chunk, struct thread *thread)
{
    struct cct *cct = &thread->cct;
    uint32_t left = count_associations(cct), most = (CHUNK_BYTES - CHUNK_SLACK) / (5 + 1);
    for (uint32_t id = 1; left > 0;) {
        uint32_t count = left < most ? left : most;
        chunk_begin(chunk, CHUNK_ASSOCIATIONS, thread->index);
        chunk_v(chunk, count);
        for (uint32_t i = 0; i < count; id++)
            if (cct_node(cct, id)->seen_changed) {
                chunk_v(chunk, id);
                chunk_u8(chunk, cct_node(cct, id)->seen);
                cct_node(cct, id)->seen_changed = false;
                i++;
            }
        if (!chunk_commit(chunk))
            return false;
        left -= count;
    }
    return true;
}

static unsigned nonzero(const uint64_t *values, unsigned count)
{
    unsigned result = 0;
    for (unsigned i = 0; i < count; i++)
        result += values[i] != 0;
    return result;
}

/* The values of a node that are not written yet; NULL if there are none. */
static uint64_t *pending_values(const struct cct *cct, uint32_t id, unsigned *pairs)
{
    const struct cct_node *node = cct_node(cct, id);
    uint32_t same;
    if (node->values == 0)
        return NULL;
    uint64_t *values = cct_values(cct, node->values - 1, &same);
    *pairs = nonzero(values, cct->metrics);
    return *pairs ? values : NULL;
}

/* The number of nodes with values from `first` on, at most as many as surely fit in a chunk. *end
 * is the node after the last one of them. */
static uint32_t count_values(const struct cct *cct, uint32_t first, uint32_t *end)
{
    uint32_t bytes = 2 * 5 + cct->metrics * (5 + VARINT_MAX_BYTES);
    uint32_t most = (CHUNK_BYTES - CHUNK_SLACK) / bytes, count = 0, id = first;
    unsigned pairs;
    for (; id < cct_end(cct) && count < most; id++)
        count += pending_values(cct, id, &pairs) != NULL;
    *end = id;
    return count;
}

static void add_values(struct chunk *chunk, const struct cct *cct, uint32_t first, uint32_t end)
{
    uint32_t previous = 0;
    for (uint32_t id = first; id < end; id++) {
        unsigned pairs;
        const uint64_t *value = pending_values(cct, id, &pairs);
        if (!value)
            continue;
        chunk_v(chunk, id - previous);
        chunk_v(chunk, pairs);
        for (unsigned metric = 0; metric < cct->metrics; metric++)
            if (value[metric]) {
                chunk_v(chunk, metric);
                chunk_v(chunk, value[metric]);
            }
        previous = id;
    }
}

static void clear_values(const struct cct *cct, uint32_t first, uint32_t end)
{
    unsigned pairs;
    for (uint32_t id = first; id < end; id++) {
        uint64_t *value = pending_values(cct, id, &pairs);
        if (value)
            memset(value, 0, cct->metrics * sizeof *value);
    }
}

/* *written is set to the node after the last one whose values are written. */
static bool write_values(struct chunk *chunk, struct thread *thread, uint32_t *written)
{
    struct cct *cct = &thread->cct;
    for (uint32_t first = 1, end; first < cct_end(cct); first = end) {
        uint32_t count = count_values(cct, first, &end);
        if (count == 0)
            continue;
        chunk_begin(chunk, CHUNK_VALUES, thread->index);
        chunk_v(chunk, count);
        add_values(chunk, cct, first, end);
        if (!chunk_commit(chunk))
            return false;
        *written = end;
    }
    return true;
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

static bool write_fates(struct chunk *chunk, struct thread *thread, unsigned which)
{
    struct thread_event *event = &thread->events[which];
    unsigned count = 0;
    merge_missed(thread, event);
    count_source(event, which);
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++)
        count += event->fates[slot].count || event->fates[slot].amount;
    if (count == 0)
        return true;
    chunk_begin(chunk, CHUNK_FATES, thread->index);
    chunk_v(chunk, which);
    chunk_v(chunk, event->opened_as);
    chunk_v(chunk, count);
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        if (!event->fates[slot].count && !event->fates[slot].amount)
            continue;
        chunk_v(chunk, fate_of_slot(slot));
        chunk_v(chunk, event->fates[slot].count);
        chunk_v(chunk, event->fates[slot].amount);
    }
    if (!chunk_commit(chunk))
        return false;
    count_fates(event, which);
    return true;
}

/* The thread's clocks now, or at its end. */
static void read_clocks(struct thread *thread, uint64_t *cpu, uint64_t *wall, struct cpu_waits *waits)
{
    uint64_t ended_wall = atomic_load(&thread->ended_wall);
    *wall = ended_wall ? ended_wall : sys_clock(CLOCK_MONOTONIC);
    *cpu = ended_wall ? thread->ended_cpu : sys_clock(sys_thread_clock(thread->tid));
    *waits = ended_wall ? thread->ended_waits : cpu_waits_since_begin(thread);
}

static void count_end(struct thread *thread, uint64_t cpu, uint64_t wall)
{
    add(&totals.ends.cpu, cpu - thread->began_cpu);
    add(&totals.ends.wall, wall - thread->began_wall);
    add(&totals.ends.nodes, cct_end(&thread->cct));
    add(&totals.ends.node_bytes, cct_bytes(&thread->cct) + lnotes_bytes(&thread->logical.lnotes));
    add(&totals.ends.trees, cct_end(&thread->cct) > 0);
}

static bool write_clock(struct chunk *chunk, struct thread *thread, bool ended)
{
    uint64_t cpu, wall;
    struct cpu_waits waits;
    read_clocks(thread, &cpu, &wall, &waits);
    chunk_begin(chunk, CHUNK_THREAD_CLOCK, thread->index);
    chunk_v(chunk, wall);
    chunk_v(chunk, cpu);
    chunk_v(chunk, ended);
    chunk_v(chunk, waits.ready + 1);
    chunk_v(chunk, waits.timeslices);
    if (!chunk_commit(chunk))
        return false;
    if (ended)
        count_end(thread, cpu, wall);
    return true;
}

static bool write_joins(struct chunk *chunk, struct thread *thread)
{
    struct arena_thread *image = thread->image;
    if (image->join_count == 0)
        return true;
    chunk_begin(chunk, CHUNK_JOINS, thread->index);
    chunk_v(chunk, image->join_count);
    for (uint32_t i = 0; i < image->join_count; i++) {
        const struct arena_join *join = &image->joins[i];
        chunk_v(chunk, join->thread);
        chunk_v(chunk, join->node);
        chunk_v(chunk, ip_instance(join->ip));
        chunk_v(chunk, ip_offset(join->ip));
        chunk_u8(chunk, join->is_cut ? JOIN_IS_CUT : 0);
    }
    if (!chunk_commit(chunk))
        return false;
    image->join_count = 0;
    return true;
}

bool flush_joins(struct thread *thread)
{
    struct chunk chunk;
    if (!measurement_create() || !chunk_memory(&chunk))
        return false;
    bool good = write_joins(&chunk, thread);
    chunk_release(&chunk);
    return good;
}

/* The part of a thread's data that is in the file, and not yet cleared in memory. */
struct written {
    uint32_t values; /* of nodes with smaller ids */
    unsigned events; /* fates of events with a smaller index */
};

/* From here on a reader takes the chunks in place of the image. Only then may the data that is in
 * them be cleared. */
static void settle(struct thread *thread, const struct written *written)
{
    thread_image_end(thread);
    clear_values(&thread->cct, 1, written->values);
    for (unsigned i = 0; i < written->events; i++)
        memset(thread->events[i].fates, 0, FATE_SLOTS * sizeof *thread->events[i].fates);
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
    uint64_t cpu, wall;
    struct cpu_waits waits;
    thread->kept = true;
    arena_file_keep();
    if (thread->tid == sys_gettid())
        thread_image_look(thread, ticks_now(), sys_clock(CLOCK_MONOTONIC));
    for (unsigned i = written->events; i < thread->event_count; i++) {
        merge_missed(thread, &thread->events[i]);
        count_source(&thread->events[i], i);
        count_fates(&thread->events[i], i);
    }
    read_clocks(thread, &cpu, &wall, &waits);
    count_end(thread, cpu, wall);
    add(&totals.threads, !thread->identity_written);
}

static void copy(uint64_t *to, const uint64_t *from)
{
    __atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* Copies the sums to where they outlive the process. Threads that end at the same time may write
 * older ones. */
static void store_totals(void)
{
    struct arena_totals *stored = arena_file_totals();
    if (!stored)
        return;
    copy(&stored->threads, &totals.threads);
    copy(&stored->cpu, &totals.ends.cpu);
    copy(&stored->wall, &totals.ends.wall);
    for (unsigned event = 0; event < process.config.event_count; event++) {
        uint8_t sources = __atomic_load_n(&totals.sources[event], __ATOMIC_RELAXED);
        __atomic_store_n(&stored->sources[event], sources, __ATOMIC_RELAXED);
        for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
            copy(&stored->fates[event][slot].count, &totals.fates[event][slot].count);
            copy(&stored->fates[event][slot].amount, &totals.fates[event][slot].amount);
        }
    }
}

bool flush_thread(struct thread *thread, bool ended)
{
    struct chunk chunk;
    struct written written = {.values = 1};
    if (thread->kept)
        return false;
    shared_pages_check();
    if (!measurement_create() || !chunk_memory(&chunk))
        return false;
    bool good = process_chunks_write_modules(&chunk) && process_chunks_write_agents(&chunk) &&
                write_identity(&chunk, thread) && write_nodes(&chunk, thread) &&
                write_associations(&chunk, thread) &&
                write_values(&chunk, thread, &written.values) && write_joins(&chunk, thread);
    for (; written.events < thread->event_count && good; written.events += good)
        good = write_fates(&chunk, thread, written.events);
    good = good && write_clock(&chunk, thread, ended) &&
           (ended || process_chunks_write_clock(&chunk, PROCESS_RUNNING, 0));
    if (!good && ended && can_keep(thread))
        keep(thread, &written);
    else
        settle(thread, &written);
    if (ended && good)
        store_totals();
    chunk_release(&chunk);
    return good;
}
