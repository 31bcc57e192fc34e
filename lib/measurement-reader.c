#include "lib/measurement.h"

#include "lib/measurement-arenas.h"
#include "lib/measurement-builder.h"
#include "lib/safe-input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

static void count_other_problems(struct builder *b)
{
    if (b->problem_count > MAX_PROBLEMS)
        vec_push(&b->m->problems,
                 mem_printf("%llu more problems",
                            (unsigned long long)(b->problem_count - MAX_PROBLEMS)));
}

/* ---- chunks ---- */

struct file_bytes {
    const uint8_t *at;
    size_t size;
    /* Bytes of damaged chunks that may still be checked. Without this bound a file full of headers
     * of damaged, overlapping chunks would take quadratic time. */
    size_t damage_budget;
};

/* Initial damage_budget, in sizes of the file. */
#define DAMAGE_BUDGET_FILES 16

/* The size of the intact chunk at `offset`; 0 if there is none. */
static size_t chunk_size(struct file_bytes *file, size_t offset)
{
    size_t left = file->size - offset;
    const uint8_t *header = file->at + offset;
    if (left < CHUNK_HEADER_SIZE || get_u32(header) != CHUNK_MAGIC)
        return 0;
    size_t payload = get_u32(header + 8);
    if (payload > CHUNK_MAX_PAYLOAD || payload > left - CHUNK_HEADER_SIZE ||
        payload > file->damage_budget)
        return 0;
    uLong crc = crc32(0, header, 20);
    crc = crc32(crc, header + CHUNK_HEADER_SIZE, (uInt)payload);
    if (crc == get_u32(header + 20))
        return CHUNK_HEADER_SIZE + payload;
    file->damage_budget -= payload;
    return 0;
}

/* The offset of the next intact chunk at or after `offset`, and its size; the file's size if there
 * is none. */
static size_t find_chunk(struct file_bytes *file, size_t offset, size_t *size)
{
    uint8_t magic[4];
    put_u32(magic, CHUNK_MAGIC);
    while ((*size = chunk_size(file, offset)) == 0) {
        const uint8_t *from = file->at + offset + 1;
        if (file->size - offset <= CHUNK_HEADER_SIZE)
            return file->size;
        const uint8_t *next = memmem(from, file->size - offset - 1, magic, sizeof magic);
        if (!next)
            return file->size;
        offset = (size_t)(next - file->at);
    }
    return offset;
}

static void decode_chunk(struct builder *b, const struct arena_file *arenas, const uint8_t *chunk,
                         size_t size, size_t offset)
{
    enum chunk_kind kind = get_u16(chunk + 4);
    uint32_t thread = get_u32(chunk + 12);
    bool of_process = kind >= CHUNK_PROCESS && kind <= CHUNK_LINES;
    bool of_thread = kind >= CHUNK_THREAD && kind <= CHUNK_WAKE_UPS;
    if ((!of_process && !of_thread) || arena_file_replaces(arenas, kind, thread))
        return;
    struct cursor c = {.at = chunk + CHUNK_HEADER_SIZE, .end = chunk + size};
    if (of_process != (thread == CHUNK_NO_THREAD))
        c.bad = true;
    else if (of_process)
        decode_process_chunk(b, kind, &c);
    else
        decode_thread_chunk(b, kind, thread, &c);
    if (c.bad) {
        builder_problem(b, "the chunk at %zu, of kind %u, is malformed", offset, (unsigned)kind);
        b->m->complete = false;
    }
}

/* The sequence numbers of the chunks so far. */
struct sequence {
    struct idmap seen;
    uint64_t next; /* the highest + 1 */
};

static bool is_new(struct sequence *sequence, uint32_t number)
{
    if (idmap_get(&sequence->seen, number, 0) != IDMAP_NONE)
        return false;
    idmap_put(&sequence->seen, number, 0, 0);
    if (number >= sequence->next)
        sequence->next = (uint64_t)number + 1;
    return true;
}

/* A thread takes a number, then writes its chunk. If the process ends in between, killed or by a
 * bare system call, others may have written later numbers: that chunk never was. So a missing number
 * says that something is lost only if the process came to its end, or if bytes of the file are in no
 * intact chunk. */
static void report_missing_chunks(struct builder *b, const struct sequence *sequence, bool any_gap)
{
    uint64_t missing = sequence->next - sequence->seen.count;
    if (missing == 0 || (b->m->clock.state == PROCESS_RUNNING && !any_gap))
        return;
    builder_problem(b, "%llu of %llu chunks are missing", (unsigned long long)missing,
                    (unsigned long long)sequence->next);
    b->m->complete = false;
}

/* The beginning of a chunk whose rest is missing, since the disk was full. */
struct torn_chunk {
    size_t offset, size;
    uint32_t before; /* number of intact chunks before it */
};

/* The chunks of a file while it is read. */
struct chunk_list {
    const struct arena_file *arenas;
    struct sequence sequence;
    uint32_t count;    /* intact chunks so far */
    struct idmap last; /* (kind, thread) -> `count` when the last such chunk was read */
    VEC(struct torn_chunk) torn;
    bool any_gap; /* bytes that are in no intact chunk */
};

static bool is_torn(const struct file_bytes *file, size_t start, size_t end)
{
    const uint8_t *at = file->at + start;
    uint8_t magic[4];
    size_t size = end - start;
    put_u32(magic, CHUNK_MAGIC);
    if (end == file->size || memcmp(at, magic, size < 4 ? size : 4) != 0)
        return false; /* nothing follows that could repeat its data */
    return size < 12 || CHUNK_HEADER_SIZE + (uint64_t)get_u32(at + 8) > size;
}

static void report_damage(struct builder *b, size_t offset, size_t size)
{
    builder_problem(b, "%zu bytes at %zu are damaged", size, offset);
    b->m->complete = false;
}

/* hpcrun repeats the data of a torn chunk in the next chunk of its kind and thread, and uses its
 * number again. If a number is missing, the piece may be a whole chunk whose size is damaged. */
static bool is_written_again(const struct chunk_list *r, const struct file_bytes *file,
                             const struct torn_chunk *torn)
{
    const uint8_t *at = file->at + torn->offset;
    if (r->sequence.next != r->sequence.seen.count)
        return false;
    if (torn->size < 16) /* without kind and thread */
        return true;
    uint32_t last = idmap_get(&r->last, get_u16(at + 4), get_u32(at + 12));
    return last != IDMAP_NONE && last > torn->before;
}

/* Whether it is the beginning of a chunk at the end of the file, since the disk was full when the process
 * ended, of a thread whose data is in the arena file; or of a time line with its wake-ups, the last and largest part of
 * what a thread writes: then only that is lost, and the list of processes says that a part could not be written. */
static bool is_known_loss(const struct chunk_list *r, const struct file_bytes *file, size_t start,
                          size_t end)
{
    const uint8_t *at = file->at + start;
    uint8_t magic[4];
    size_t size = end - start;
    put_u32(magic, CHUNK_MAGIC);
    if (end != file->size || size < 6 || memcmp(at, magic, 4) != 0 ||
        (size >= 12 && CHUNK_HEADER_SIZE + (uint64_t)get_u32(at + 8) <= size))
        return false;
    uint16_t kind = get_u16(at + 4);
    return kind == CHUNK_TRACE || kind == CHUNK_WAKE_UPS ||
           (size >= 16 && arena_file_replaces(r->arenas, kind, get_u32(at + 12)));
}

static void read_gap(struct builder *b, struct chunk_list *r, const struct file_bytes *file,
                     size_t start, size_t end)
{
    if (start == end || is_known_loss(r, file, start, end))
        return;
    r->any_gap = true;
    if (is_torn(file, start, end))
        vec_push(&r->torn, (struct torn_chunk){start, end - start, r->count});
    else
        report_damage(b, start, end - start);
}

static void read_chunk(struct builder *b, struct chunk_list *r, const struct file_bytes *file,
                       size_t offset, size_t size)
{
    const uint8_t *chunk = file->at + offset;
    idmap_put(&r->last, get_u16(chunk + 4), get_u32(chunk + 12), ++r->count);
    if (get_u16(chunk + 4) == CHUNK_CHILD || is_new(&r->sequence, get_u32(chunk + 16)))
        decode_chunk(b, r->arenas, chunk, size, offset);
    else
        builder_problem(b, "the chunk at %zu repeats number %u", offset, get_u32(chunk + 16));
}

/* Decodes all intact chunks; false if there is none. */
static bool decode_chunks(struct builder *b, struct file_bytes *file,
                          const struct arena_file *arenas)
{
    struct chunk_list r = {.arenas = arenas};
    size_t offset = MEASUREMENT_HEADER_SIZE;
    while (offset < file->size) {
        size_t size, start = find_chunk(file, offset, &size);
        read_gap(b, &r, file, offset, start);
        if (start == file->size)
            break;
        read_chunk(b, &r, file, start, size);
        offset = start + size;
    }
    for (size_t i = 0; i < r.torn.n; i++)
        if (!is_written_again(&r, file, &r.torn.at[i]))
            report_damage(b, r.torn.at[i].offset, r.torn.at[i].size);
    report_missing_chunks(b, &r.sequence, r.any_gap);
    idmap_free(&r.sequence.seen);
    idmap_free(&r.last);
    vec_free(&r.torn);
    return r.count != 0;
}

/* ---- files ---- */

/* Takes pid, start time and sequence from the name ...-PID-STARTTIME-EXECSEQ.hpcrun, in case the
 * PROCESS record is lost. */
static void identify_by_name(struct measurement *m)
{
    autofree char *name = mem_strdup(m->name);
    size_t length = strlen(name), suffix = strlen(MEASUREMENT_SUFFIX);
    if (length > suffix && strcmp(name + length - suffix, MEASUREMENT_SUFFIX) == 0)
        name[length - suffix] = '\0';
    uint64_t *const fields[] = {&m->process.exec_sequence, &m->process.start_time, &m->process.pid};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *dash = strrchr(name, '-');
        if (!dash)
            break;
        *fields[i] = strtoull(dash + 1, NULL, 10);
        *dash = '\0';
    }
}

static struct measurement *new_measurement(const char *path)
{
    struct measurement *m = mem_alloc(sizeof *m);
    m->path = mem_strdup(path);
    const char *slash = strrchr(m->path, '/');
    m->name = slash ? slash + 1 : m->path;
    m->complete = true;
    m->process.rank = -1;
    m->process.host = mem_strdup("");
    m->process.executable = mem_strdup("");
    m->process.directory = mem_strdup("");
    m->process.hpcrun_version = mem_strdup("");
    identify_by_name(m);
    return m;
}

static void set_damage_budget(struct file_bytes *file)
{
    if (__builtin_mul_overflow(file->size, DAMAGE_BUDGET_FILES, &file->damage_budget))
        file->damage_budget = SIZE_MAX;
}

static struct measurement *decode_file(const char *path, struct file_bytes *file, bool is_child,
                                       char **cause);

/* The path that the child's file would have: host and folder are its parent's. */
static char *path_of_child(const char *parent, const struct child_file *child)
{
    size_t length = strlen(parent);
    for (unsigned dashes = 0; length > 0 && parent[length - 1] != '/' && dashes < 3; length--)
        dashes += parent[length - 1] == '-';
    return mem_printf("%.*s-%llu-%llu-0" MEASUREMENT_SUFFIX, (int)length, parent,
                      (unsigned long long)child->pid, (unsigned long long)child->start_time);
}

static void decode_children(struct builder *b)
{
    for (size_t i = 0; i < b->children.n; i++) {
        struct child_file *child = &b->children.at[i];
        struct file_bytes file = {.at = child->bytes.at, .size = child->bytes.n};
        char *path = path_of_child(b->m->path, child), *cause = NULL;
        struct measurement *m = NULL;
        set_damage_budget(&file);
        if (file.size < MEASUREMENT_HEADER_SIZE)
            cause = mem_strdup("nothing in it is intact");
        else
            m = decode_file(path, &file, true, &cause);
        if (m)
            vec_push(&b->m->children, m);
        else
            builder_problem(b, "the data of its child %llu: %s", (unsigned long long)child->pid,
                            cause);
        free(cause);
        free(path);
        vec_free(&child->bytes);
    }
    vec_free(&b->children);
    idmap_free(&b->child_positions);
}

static struct measurement *decode_file(const char *path, struct file_bytes *file, bool is_child,
                                       char **cause)
{
    bool magic_is_right = memcmp(file->at, MEASUREMENT_MAGIC, strlen(MEASUREMENT_MAGIC)) == 0;
    uint16_t major = get_u16(file->at + 8), minor = get_u16(file->at + 10);
    if (magic_is_right && (major != MEASUREMENT_MAJOR || minor < MEASUREMENT_OLDEST_MINOR)) {
        *cause = mem_printf("it has version %u.%u, this program reads versions %u from %u.%u on", major, minor,
                            MEASUREMENT_MAJOR, MEASUREMENT_MAJOR, MEASUREMENT_OLDEST_MINOR);
        return NULL;
    }
    struct builder b = {
        .m = new_measurement(path),
        .is_child = is_child,
    };
    if (!magic_is_right) {
        builder_problem(&b, "the file header is damaged");
        b.m->complete = false;
    }
    struct arena_file arenas = {0};
    if (!is_child)
        arena_file_open(&b, &arenas, path);
    bool any = decode_chunks(&b, file, &arenas);
    if (any)
        arena_file_decode(&b, &arenas);
    arena_file_close(&arenas);
    if (any && !b.m->process.known)
        builder_problem(&b, "the record of the process is lost");
    decode_children(&b);
    builder_resolve(&b);
    count_other_problems(&b);
    idmap_free(&b.thread_positions);
    idmap_free(&b.space_slots);
    idmap_free(&b.module_ids);
    vec_free(&b.spaces);
    vec_free(&b.code_map);
    free_lines(&b);
    vec_free(&b.joins);
    for (size_t i = 0; i < b.states.n; i++)
        vec_free(&b.states.at[i].ranges);
    vec_free(&b.states);
    if (!any) {
        *cause = mem_strdup(magic_is_right ? "nothing in it is intact" : "not a measurement file");
        measurement_free(b.m);
        return NULL;
    }
    return b.m;
}

/* Maps a regular file that has room for the header. */
static bool map_file(const char *path, struct file_bytes *file, char **cause)
{
    struct stat status;
    file->at = input_map(path, &status, cause);
    if (!file->at)
        return false;
    file->size = (size_t)status.st_size;
    set_damage_budget(file);
    if (file->size >= MEASUREMENT_HEADER_SIZE)
        return true;
    *cause = mem_strdup("too short for a measurement file");
    munmap((void *)file->at, file->size);
    return false;
}

struct measurement *measurement_open(const char *path, char **cause)
{
    struct file_bytes file;
    if (!map_file(path, &file, cause))
        return NULL;
    struct measurement *m = decode_file(path, &file, false, cause);
    munmap((void *)file.at, file.size);
    return m;
}
