#include "lib/measurement-arenas.h"

#include "lib/safe-input.h"
#include "lib/thread-chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* How often an item is read. */
#define READINGS 3

/* More metrics than any run has. */
#define MAX_METRICS 4096

/* ---- reading the file ----
 *
 * Everything is copied before it is checked: the process may still run and change it. */

static bool copy(const struct arena_file *file, uint64_t offset, void *to, size_t size)
{
    if (size > file->size || offset > file->size - size)
        return false;
    memcpy(to, file->at + offset, size);
    return true;
}

/* Copies the item with an index of an array. */
static bool copy_item(struct arena_file *file, const struct arena_segments *segments,
                      unsigned first_bits, uint32_t index, void *to, size_t size)
{
    uint64_t rest = (uint64_t)index + (1u << first_bits);
    unsigned segment = 63u - (unsigned)__builtin_clzll(rest) - first_bits;
    if (segment >= ARENA_SEGMENTS || segments->at[segment] == 0 || file->budget < size)
        return false;
    uint64_t within = rest - ((uint64_t)1 << (segment + first_bits));
    file->budget -= size;
    return segments->at[segment] <= file->size &&
           copy(file, segments->at[segment] + within * size, to, size);
}

static void damaged(struct builder *b, const char *what)
{
    builder_problem(b, "the arena file is damaged: %s", what);
    b->m->complete = false;
}

/* Lists the live images. A file without magic had just begun. */
static void list_images(struct builder *b, struct arena_file *file)
{
    static const char nothing[sizeof file->header.magic];
    struct arena_thread image;
    if (memcmp(file->header.magic, nothing, sizeof nothing) == 0)
        return;
    if (memcmp(file->header.magic, ARENAS_MAGIC, sizeof nothing) != 0 ||
        file->header.metrics > MAX_METRICS) {
        damaged(b, "its header");
        return;
    }
    if (file->header.major != ARENAS_MAJOR ||
        file->header.thread_bytes != sizeof(struct arena_thread)) {
        builder_problem(b, "the arena file has version %u-%u, this program reads version %u-%zu",
                        file->header.major, file->header.thread_bytes, ARENAS_MAJOR,
                        sizeof(struct arena_thread));
        b->m->complete = false;
        return;
    }
    size_t most = file->size / sizeof image;
    for (uint64_t at = file->header.first_thread; at; at = image.next) {
        if (most-- == 0 || !copy(file, at, &image, sizeof image)) {
            damaged(b, "its list of threads");
            return;
        }
        if (image.state != THREAD_IMAGE_LIVE ||
            idmap_get(&file->live, image.index, 0) != IDMAP_NONE)
            continue;
        idmap_put(&file->live, image.index, 0, (uint32_t)file->offsets.n);
        vec_push(&file->offsets, at);
    }
}

void arena_file_open(struct builder *b, struct arena_file *file, const char *measurement_path)
{
    size_t length = strlen(measurement_path), suffix = strlen(MEASUREMENT_SUFFIX);
    if (length < suffix || strcmp(measurement_path + length - suffix, MEASUREMENT_SUFFIX) != 0)
        return;
    autofree char *path = mem_printf("%.*s" ARENAS_SUFFIX, (int)(length - suffix), measurement_path);
    struct stat status;
    autofree char *cause = NULL;
    file->at = input_map(path, &status, &cause);
    if (!file->at && errno != ENOENT && errno != ENODATA) {
        builder_problem(b, "the arena file can't be read: %s", cause);
        b->m->complete = false;
    }
    if (!file->at)
        return;
    file->size = (size_t)status.st_size;
    file->budget = file->size * READINGS;
    if (file->size < sizeof file->header)
        return;
    memcpy(&file->header, file->at, sizeof file->header);
    list_images(b, file);
}

void arena_file_close(struct arena_file *file)
{
    if (file->at)
        munmap((void *)file->at, file->size);
    idmap_free(&file->live);
    vec_free(&file->offsets);
}

bool arena_file_replaces(const struct arena_file *file, enum chunk_kind kind, uint32_t thread)
{
    bool is_in_image = kind >= CHUNK_THREAD && kind <= CHUNK_WAKE_UPS && kind != CHUNK_JOINS;
    return is_in_image && idmap_get(&file->live, thread, 0) != IDMAP_NONE;
}

/* ---- a thread ----
 *
 * An image is turned into the payloads of the chunks that the thread would have written, so that there is
 * one encoder, one decoder and one set of checks. */

struct image_reader {
    struct thread_chunks chunks; /* first */
    struct chunk chunk;
    struct builder *b;
    struct arena_file *file;
    struct arena_thread thread;
    /* Copies of items. */
    struct cct_node node;
    struct lnote lnote;
    struct trace_record trace;
    struct arena_mark mark;
    struct arena_wake_up wake_up;
    uint64_t record[1 + MAX_METRICS];
};

/* Puts back the words of the record that the sample in progress has changed. */
static void undo_values(const struct arena_undo *undo, uint32_t index, uint64_t *amounts,
                        uint32_t metrics)
{
    for (uint32_t i = undo->count < ARENA_UNDO ? undo->count : ARENA_UNDO; i > 0; i--)
        for (uint32_t metric = 0; metric < metrics && metric < 256; metric++)
            if (undo->at[i - 1].word == arena_word(ARENA_WORD_VALUE, index, metric))
                amounts[metric] = undo->at[i - 1].old;
}

static const void *copied_item(struct thread_chunks *chunks, enum arena_array array, uint32_t index)
{
    struct image_reader *r = (struct image_reader *)chunks;
    const struct arena_thread *t = &r->thread;
    const struct {
        const struct arena_segments *segments;
        unsigned first_bits;
        void *copy;
        size_t size;
    } arrays[] = {
        [ARENA_NODES] = {&t->node_segments, ARENA_FIRST_BITS, &r->node, sizeof r->node},
        [ARENA_LNOTES] = {&t->lnote_segments, ARENA_FIRST_BITS, &r->lnote, sizeof r->lnote},
        [ARENA_VALUES] = {&t->value_segments, ARENA_FIRST_BITS, r->record,
                          (1 + chunks->metrics) * sizeof *r->record},
        [ARENA_TRACE] = {&t->trace_segments, ARENA_TRACE_BITS, &r->trace, sizeof r->trace},
        [ARENA_MARKS] = {&t->mark_segments, ARENA_MARK_BITS, &r->mark, sizeof r->mark},
        [ARENA_WAKE_UPS] = {&t->wake_up_segments, ARENA_MARK_BITS, &r->wake_up, sizeof r->wake_up},
    }, *from = &arrays[array];
    if ((array == ARENA_LNOTES && index >= t->lnotes) ||
        !copy_item(r->file, from->segments, from->first_bits, index, from->copy, from->size))
        return NULL;
    if (array == ARENA_VALUES)
        undo_values(&t->undo, index, r->record + 1, chunks->metrics);
    return from->copy;
}

static bool decode(struct thread_chunks *chunks)
{
    struct image_reader *r = (struct image_reader *)chunks;
    struct cursor c = {.at = r->chunk.at + CHUNK_HEADER_SIZE, .end = r->chunk.at + r->chunk.used};
    decode_thread_chunk(r->b, r->chunk.kind, r->chunk.thread, &c);
    return !c.bad;
}

/* ---- clocks ---- */

/* A thread reads the clock again at its first sample TICKS_PER_LOOK (hpcrun/sample/handler.c) after
 * the last reading. Twice that bounds the ticks of a sample that came before it. */
#define MAX_TICKS_BEHIND_LOOK ((uint64_t)1 << 33)

/* CLOCK_MONOTONIC at the last sample: the thread's last look at the clock, and the ticks since
 * then. The rate of ticks is that between the process's begin and this look. */
static uint64_t last_wall(const struct tick_times *times, const struct arena_thread *t)
{
    uint64_t ticks = t->ticks - t->looked_ticks;
    bool is_later = t->ticks >= t->looked_ticks && ticks <= MAX_TICKS_BEHIND_LOOK;
    return is_later ? tick_time(times, t->ticks) : t->looked_wall;
}

/* The thread's CPU clock at the last sample: at least what an event on that clock has counted. */
static uint64_t last_cpu(const struct measurement *m, const struct arena_thread *t)
{
    uint64_t most = t->looked_cpu;
    for (size_t i = 0; i < m->events.n; i++) {
        const struct measurement_event *event = &m->events.at[i];
        if (event->id >= ARENA_EVENTS || !(event->flags & EVENT_TIME) ||
            (event->flags & EVENT_WALL_CLOCK))
            continue;
        uint64_t fired = t->fates[event->id][fate_slot(FATE_FIRED)].amount >> event->shift;
        most = t->began_cpu + fired > most ? t->began_cpu + fired : most;
    }
    return most;
}

static bool read_clocks(struct image_reader *r, const struct tick_times *times)
{
    struct measurement_process_clock *clock = &r->b->m->clock;
    const struct thread_clocks clocks = {.wall = last_wall(times, &r->thread),
                                         .cpu = last_cpu(r->b->m, &r->thread),
                                         .ready = r->thread.looked_ready,
                                         .timeslices = r->thread.looked_timeslices};
    if (clock->state == PROCESS_RUNNING && clocks.wall > clock->monotonic)
        clock->monotonic = clocks.wall;
    return thread_chunks_clocks(&r->chunks, &clocks);
}

static bool read_image(struct image_reader *r)
{
    struct thread_chunks *chunks = &r->chunks;
    uint32_t first = 1, first_mark = 0, end;
    const struct tick_times times = {.began_ticks = r->file->header.began_ticks,
                                     .began_wall = r->file->header.began_wall,
                                     .ticks = r->thread.looked_ticks,
                                     .wall = r->thread.looked_wall};
    arena_undo_fates(&r->thread);
    bool good = thread_chunks_identity(chunks) && read_clocks(r, &times) &&
                thread_chunks_nodes(chunks, &first) && thread_chunks_associations(chunks) &&
                thread_chunks_values(chunks, &end) && thread_chunks_joins(chunks);
    for (unsigned event = 0; event < ARENA_EVENTS && good; event++)
        good = thread_chunks_fates(chunks, event);
    return good && thread_chunks_trace(chunks, &times, &end) &&
           thread_chunks_marks(chunks, &times, &first_mark) && thread_chunks_wake_ups(chunks, &times);
}

/* The process's CPU clock: at least what its threads have used since it began. */
static uint64_t process_cpu(const struct measurement *m, uint64_t looked)
{
    uint64_t cpu = m->process.cpu;
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].last_cpu > m->threads.at[i].first_cpu)
            cpu += m->threads.at[i].last_cpu - m->threads.at[i].first_cpu;
    return cpu > looked ? cpu : looked;
}

void arena_file_decode(struct builder *b, struct arena_file *file)
{
    struct measurement_process_clock *clock = &b->m->clock;
    struct image_reader r = {.b = b, .file = file, .chunk.at = mem_alloc(CHUNK_BYTES)};
    r.chunks = (struct thread_chunks){.image = &r.thread,
                                      .chunk = &r.chunk,
                                      .metrics = (uint32_t)file->header.metrics,
                                      .item = copied_item,
                                      .commit = decode};
    for (size_t i = 0; i < file->offsets.n; i++) {
        copy(file, file->offsets.at[i], &r.thread, sizeof r.thread);
        if (!read_image(&r))
            damaged(b, "the image of a thread");
        uint32_t position = idmap_get(&b->thread_positions, r.thread.index, 0);
        b->m->threads.at[position].recovered = true;
        b->m->recovered++;
    }
    free(r.chunk.at);
    if (b->m->recovered && clock->state == PROCESS_RUNNING)
        clock->cpu = process_cpu(b->m, file->header.cpu);
}
