#include "lib/measurement-arenas.h"

#include "lib/safe-input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
                      uint32_t index, void *to, size_t size)
{
    uint64_t rest = (uint64_t)index + (1u << ARENA_FIRST_BITS);
    unsigned segment = 63u - (unsigned)__builtin_clzll(rest) - ARENA_FIRST_BITS;
    if (segment >= ARENA_SEGMENTS || segments->at[segment] == 0 || file->budget < size)
        return false;
    uint64_t within = rest - ((uint64_t)1 << (segment + ARENA_FIRST_BITS));
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
    char *path = mem_printf("%.*s" ARENAS_SUFFIX, (int)(length - suffix), measurement_path);
    struct stat status;
    char *cause = NULL;
    file->at = input_map(path, &status, &cause);
    if (!file->at && errno != ENOENT && errno != ENODATA) {
        builder_problem(b, "the arena file can't be read: %s", cause);
        b->m->complete = false;
    }
    free(cause);
    free(path);
    if (!file->at)
        return;
    file->size = file->budget = (size_t)status.st_size;
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
    bool is_in_image = kind >= CHUNK_THREAD && kind <= CHUNK_FATES;
    return is_in_image && idmap_get(&file->live, thread, 0) != IDMAP_NONE;
}

/* ---- payloads ----
 *
 * An image is turned into the payloads of the chunks that the thread would have written, so that
 * there is one decoder and one set of checks. */

struct payload {
    VEC(uint8_t) bytes;
};

static void add_v(struct payload *p, uint64_t value)
{
    vec_reserve(&p->bytes, VARINT_MAX_BYTES);
    uint8_t *at = p->bytes.at + p->bytes.n;
    p->bytes.n += (size_t)(put_varint(at, value) - at);
}

static void add_u8(struct payload *p, unsigned value)
{
    vec_push(&p->bytes, (uint8_t)value);
}

static uint64_t instance_of(uint64_t ip)
{
    return ip & ARENA_IP_NO_MODULE ? INSTANCE_NO_MODULE : ip >> ARENA_IP_OFFSET_BITS;
}

static uint64_t offset_of(uint64_t ip)
{
    return ip & ARENA_IP_NO_MODULE ? ip & ~ARENA_IP_NO_MODULE
                                   : ip & (((uint64_t)1 << ARENA_IP_OFFSET_BITS) - 1);
}

/* The space of an lip. */
static uint64_t space_of(uint64_t ip)
{
    bool is_named = (ip & (ARENA_IP_NO_MODULE | ARENA_IP_NAMED)) == ARENA_IP_NAMED;
    return is_named ? 2 * instance_of(ip & ~ARENA_IP_NAMED) + 1 : 2 * instance_of(ip);
}

static void add_ip(struct payload *p, uint64_t ip)
{
    add_v(p, instance_of(ip));
    add_v(p, offset_of(ip));
}

/* Decodes the payload, and empties it. */
static bool decode(struct builder *b, struct payload *p, enum chunk_kind kind, uint32_t thread)
{
    struct cursor c = {.at = p->bytes.at, .end = p->bytes.at + p->bytes.n};
    decode_thread_chunk(b, kind, thread, &c);
    p->bytes.n = 0;
    return !c.bad;
}

/* ---- a thread ---- */

/* An image being decoded. */
struct image_reader {
    struct builder *b;
    struct arena_file *file;
    struct arena_thread thread;
    struct payload payload;
};

static bool read_identity(struct image_reader *r)
{
    const struct arena_thread *t = &r->thread;
    struct payload *p = &r->payload;
    size_t length = strnlen(t->name, sizeof t->name);
    add_v(p, t->tid);
    add_v(p, t->kind);
    add_v(p, length);
    for (size_t i = 0; i < length; i++)
        add_u8(p, (uint8_t)t->name[i]);
    add_v(p, t->creator);
    add_v(p, t->creation_node);
    add_v(p, t->began_wall);
    add_v(p, t->began_cpu);
    add_ip(p, t->start_ip);
    return decode(r->b, p, CHUNK_THREAD, t->index);
}

static bool add_node(struct image_reader *r, uint32_t id, const struct arena_node *node)
{
    struct payload *p = &r->payload;
    struct arena_lnote lnote;
    bool has_own = node->lip >= ARENA_LIP_OWN;
    if (node->parent >= id || (has_own && node->lip - ARENA_LIP_OWN >= r->thread.lnotes))
        return false;
    add_v(p, id - node->parent);
    add_u8(p, (node->association & NODE_ASSOCIATION) | (node->first ? NODE_FIRST_OF_BICHORD : 0u) |
                  (node->ip ? NODE_HAS_IP : 0u) |
                  (node->lip == ARENA_LIP_IS_IP && node->ip ? NODE_LIP_IS_IP : 0u) |
                  (has_own ? NODE_HAS_LIP : 0u));
    if (node->ip)
        add_ip(p, node->ip);
    if (!has_own)
        return true;
    if (!copy_item(r->file, &r->thread.lnote_segments, node->lip - ARENA_LIP_OWN, &lnote,
                   sizeof lnote))
        return false;
    add_v(p, space_of(lnote.value));
    add_v(p, offset_of(lnote.value));
    add_v(p, lnote.site ? offset_of(lnote.site) + 1 : 0);
    return true;
}

/* Nodes in a payload: it stays small whatever the size of the tree. */
#define NODES_AT_ONCE 4096

static bool read_nodes(struct image_reader *r)
{
    struct payload associations = {0};
    uint64_t n = 0;
    bool good = true;
    for (uint32_t first = 1; first < r->thread.nodes && good; first += NODES_AT_ONCE) {
        uint32_t left = r->thread.nodes - first;
        uint32_t count = left < NODES_AT_ONCE ? left : NODES_AT_ONCE;
        add_v(&r->payload, first);
        add_v(&r->payload, count);
        for (uint32_t id = first; id < first + count && good; id++) {
            struct arena_node node;
            good = copy_item(r->file, &r->thread.node_segments, id, &node, sizeof node) &&
                   add_node(r, id, &node);
            if (good && node.seen != 1u << (node.association & NODE_ASSOCIATION)) {
                add_v(&associations, id);
                add_u8(&associations, node.seen);
                n++;
            }
        }
        good = decode(r->b, &r->payload, CHUNK_NODES, r->thread.index) && good;
    }
    add_v(&r->payload, n);
    for (size_t i = 0; i < associations.bytes.n; i++)
        add_u8(&r->payload, associations.bytes.at[i]);
    vec_free(&associations.bytes);
    return decode(r->b, &r->payload, CHUNK_ASSOCIATIONS, r->thread.index) && good;
}

/* Puts back the words of the record that the sample in progress has changed. */
static void undo_values(const struct arena_undo *undo, uint32_t index, uint64_t *amounts,
                        uint32_t metrics)
{
    for (uint32_t i = undo->count < ARENA_UNDO ? undo->count : ARENA_UNDO; i > 0; i--)
        for (uint32_t metric = 0; metric < metrics && metric < 256; metric++)
            if (undo->at[i - 1].word == arena_word(ARENA_WORD_VALUE, index, metric))
                amounts[metric] = undo->at[i - 1].old;
}

static bool read_values(struct image_reader *r)
{
    uint32_t metrics = (uint32_t)r->file->header.metrics;
    uint64_t record[1 + MAX_METRICS];
    for (uint32_t i = 0; i < r->thread.values; i++) {
        struct payload *p = &r->payload;
        uint64_t pairs = 0;
        if (!copy_item(r->file, &r->thread.value_segments, i, record,
                       (1 + metrics) * sizeof *record))
            return false;
        undo_values(&r->thread.undo, i, record + 1, metrics);
        for (uint32_t metric = 0; metric < metrics; metric++)
            pairs += record[1 + metric] != 0;
        add_v(p, 1);
        add_v(p, record[0]);
        add_v(p, pairs);
        for (uint32_t metric = 0; metric < metrics; metric++)
            if (record[1 + metric]) {
                add_v(p, metric);
                add_v(p, record[1 + metric]);
            }
        if (!decode(r->b, p, CHUNK_VALUES, r->thread.index))
            return false;
    }
    return true;
}

static bool is_counted(const struct fate_count *fate)
{
    return fate->count || fate->amount;
}

static bool read_fates(struct image_reader *r, uint32_t event)
{
    const struct fate_count *fates = r->thread.fates[event];
    struct payload *p = &r->payload;
    uint64_t n = 0;
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++)
        n += is_counted(&fates[slot]);
    if (n == 0)
        return true;
    add_v(p, event);
    add_v(p, r->thread.source[event]);
    add_v(p, n);
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++)
        if (is_counted(&fates[slot])) {
            add_v(p, fate_of_slot(slot));
            add_v(p, fates[slot].count);
            add_v(p, fates[slot].amount);
        }
    return decode(r->b, p, CHUNK_FATES, r->thread.index);
}

static bool read_joins(struct image_reader *r)
{
    struct payload *p = &r->payload;
    if (r->thread.join_count == 0)
        return true;
    if (r->thread.join_count > ARENA_JOINS)
        return false;
    add_v(p, r->thread.join_count);
    for (uint32_t i = 0; i < r->thread.join_count; i++) {
        add_v(p, r->thread.joins[i].thread);
        add_v(p, r->thread.joins[i].node);
        add_ip(p, r->thread.joins[i].ip);
        add_u8(p, r->thread.joins[i].is_cut ? JOIN_IS_CUT : 0);
    }
    return decode(r->b, p, CHUNK_JOINS, r->thread.index);
}

/* ---- clocks ---- */

/* A thread reads the clock again at its first sample TICKS_PER_LOOK (hpcrun/sample/handler.c) after
 * the last reading. Twice that bounds the ticks of a sample that came before it. */
#define MAX_TICKS_BEHIND_LOOK ((uint64_t)1 << 33)

/* CLOCK_MONOTONIC at the last sample: the thread's last look at the clock, and the ticks since
 * then. The rate of ticks is that between the process's begin and this look. */
static uint64_t last_wall(const struct arena_header *header, const struct arena_thread *t)
{
    uint64_t ticks = t->ticks - t->looked_ticks;
    uint64_t base = t->looked_ticks - header->began_ticks;
    uint64_t ns = t->looked_wall - header->began_wall;
    if (t->ticks < t->looked_ticks || ticks > MAX_TICKS_BEHIND_LOOK ||
        t->looked_ticks <= header->began_ticks || t->looked_wall <= header->began_wall)
        return t->looked_wall;
    return t->looked_wall + (uint64_t)((unsigned __int128)ticks * ns / base);
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

static bool read_clock(struct image_reader *r)
{
    struct measurement_process_clock *clock = &r->b->m->clock;
    uint64_t wall = last_wall(&r->file->header, &r->thread);
    uint64_t cpu = last_cpu(r->b->m, &r->thread);
    if (clock->state == PROCESS_RUNNING && wall > clock->monotonic)
        clock->monotonic = wall;
    add_v(&r->payload, wall);
    add_v(&r->payload, cpu);
    add_v(&r->payload, 0);
    add_v(&r->payload, r->thread.looked_ready);
    add_v(&r->payload, r->thread.looked_timeslices);
    return decode(r->b, &r->payload, CHUNK_THREAD_CLOCK, r->thread.index);
}

static bool read_image(struct image_reader *r)
{
    arena_undo_fates(&r->thread);
    bool good =
        read_identity(r) && read_clock(r) && read_nodes(r) && read_values(r) && read_joins(r);
    for (uint32_t event = 0; event < ARENA_EVENTS && good; event++)
        good = read_fates(r, event);
    vec_free(&r->payload.bytes);
    return good;
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
    for (size_t i = 0; i < file->offsets.n; i++) {
        struct image_reader reader = {.b = b, .file = file};
        copy(file, file->offsets.at[i], &reader.thread, sizeof reader.thread);
        if (!read_image(&reader))
            damaged(b, "the image of a thread");
        uint32_t position = idmap_get(&b->thread_positions, reader.thread.index, 0);
        b->m->threads.at[position].recovered = true;
        b->m->recovered++;
    }
    if (b->m->recovered && clock->state == PROCESS_RUNNING)
        clock->cpu = process_cpu(b->m, file->header.cpu);
}
