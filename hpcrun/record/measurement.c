#include "hpcrun/record/measurement.h"

#include "hpcrun/fds.h"
#include "hpcrun/process.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/sys.h"
#include "lib/crc32.h"

#include <string.h>
#include <sys/stat.h>

enum { FILE_NONE, FILE_OPENING, FILE_OPEN, FILE_CLOSED };

#define MAX_EXEC_SEQUENCE 100000

static struct {
    _Atomic int state;
    _Atomic long error;
    _Atomic uint64_t failures;
    _Atomic uint32_t chunks;
    int fd;
    struct stat status; /* when it was opened */
    uint32_t exec_sequence;
    char path[PATH_MAX + 512];
    char begun[PATH_MAX + 512]; /* the file's name until it says what process it is of */
    size_t stem;                /* length of the paths up to the exec sequence number */
} file;

/* Where a chunk is built when there is no memory any more: by one thread at a time. */
static struct {
    _Atomic bool taken;
    uint8_t at[CHUNK_BYTES + SCRATCH_BYTES];
} reserve;

/* No reader takes such a file for a measurement. */
#define BEGUN_SUFFIX ".begun"

/* The host's name up to the first dot, in characters that suit a file name. */
static void add_host(struct text *text)
{
    for (const char *at = process.host; *at && *at != '.'; at++)
        text_add_bytes(text, *at == '/' || *at == '-' ? "_" : at, 1);
}

void measurement_init(void)
{
    struct text path = TEXT(file.path);
    text_add(&path, process.config.directory);
    text_add(&path, "/");
    add_host(&path);
    text_add(&path, "-");
    text_add_number(&path, (uint64_t)process.pid);
    text_add(&path, "-");
    text_add_number(&path, process.start_ticks);
    text_add(&path, "-");
    memcpy(file.begun, file.path, path.length);
    file.stem = path.length;
    file.fd = -1;
    file.exec_sequence = 0;
    atomic_store(&file.chunks, 0);
    atomic_store(&file.failures, 0);
    atomic_store(&file.error, 0);
    atomic_store(&file.state, FILE_NONE);
    atomic_store(&reserve.taken, false);
}

static bool failed(long error)
{
    atomic_store(&file.error, error);
    atomic_fetch_add(&file.failures, 1);
    return false;
}

static void name(char *path, const char *suffix)
{
    struct text text = {.at = path, .length = file.stem, .room = sizeof file.path};
    text_add_number(&text, file.exec_sequence);
    text_add(&text, suffix);
}

/* Images that the process had before have taken the smaller numbers. */
static int create(void)
{
    for (file.exec_sequence = 0; file.exec_sequence < MAX_EXEC_SEQUENCE; file.exec_sequence++) {
        name(file.path, MEASUREMENT_SUFFIX);
        name(file.begun, BEGUN_SUFFIX);
        long there = sys2(SYS_rename, file.path, file.path); /* changes nothing, and tells */
        if (there == 0)
            continue;
        if (there != -ENOENT)
            return (int)there;
        int fd = fds_open(file.begun, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0644);
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

static bool write_header(void)
{
    uint8_t header[MEASUREMENT_HEADER_SIZE] = MEASUREMENT_MAGIC;
    put_u16(header + 8, MEASUREMENT_MAJOR);
    put_u16(header + 10, MEASUREMENT_MINOR);
    long error = sys_write_all(file.fd, header, sizeof header);
    return error == 0 || failed(error);
}

static bool begin_file(void)
{
    if (!write_header() || !process_chunks_write())
        return false;
    long error = sys2(SYS_rename, file.begun, file.path);
    return error == 0 || failed(error);
}

/* Leaves it as if nothing had been tried. */
static void give_up_file(void)
{
    sys1(SYS_unlink, file.begun);
    fds_close(file.fd);
    atomic_store(&file.chunks, 0);
    atomic_store(&file.state, FILE_NONE);
}

bool measurement_open(void)
{
    int state = FILE_NONE;
    if (!atomic_compare_exchange_strong(&file.state, &state, FILE_OPENING))
        return state == FILE_OPEN;
    int fd = create();
    if (fd < 0) {
        atomic_store(&file.state, FILE_NONE);
        return failed(fd);
    }
    file.fd = fd;
    sys2(SYS_fstat, fd, &file.status);
    if (file.exec_sequence > 0 && process.origin != ORIGIN_FORK)
        process.origin = ORIGIN_EXEC;
    if (!begin_file()) {
        give_up_file();
        return false;
    }
    atomic_store(&file.state, FILE_OPEN);
    return true;
}

bool measurement_is_there(void)
{
    return atomic_load(&file.state) == FILE_OPEN;
}

void measurement_close(void)
{
    if (atomic_exchange(&file.state, FILE_CLOSED) == FILE_OPEN)
        fds_close(file.fd);
}

void measurement_leave_to_parent(void)
{
    if (atomic_exchange(&file.state, FILE_CLOSED) == FILE_OPEN)
        fds_close_or_reserve(file.fd);
}

const char *measurement_path(void)
{
    return file.path;
}

uint64_t measurement_failures(long *error)
{
    *error = atomic_load(&file.error);
    return atomic_load(&file.failures);
}

void measurement_forget_failures(void)
{
    atomic_store(&file.failures, 0);
}

uint32_t measurement_exec_sequence(void)
{
    return file.exec_sequence;
}

bool chunk_memory(struct chunk *chunk)
{
    chunk->at = sys_pages(CHUNK_BYTES + SCRATCH_BYTES);
    if (!chunk->at && !atomic_exchange(&reserve.taken, true))
        chunk->at = reserve.at;
    chunk->scratch = (char *)chunk->at + CHUNK_BYTES;
    return chunk->at != NULL;
}

void chunk_release(struct chunk *chunk)
{
    if (chunk->at == reserve.at)
        atomic_store(&reserve.taken, false);
    else
        sys_pages_free(chunk->at, CHUNK_BYTES + SCRATCH_BYTES);
}

void chunk_begin(struct chunk *chunk, enum chunk_kind kind, uint32_t thread)
{
    chunk->used = CHUNK_HEADER_SIZE;
    chunk->kind = kind;
    chunk->thread = thread;
}

static bool fits(const struct chunk *chunk, size_t size)
{
    return size <= CHUNK_BYTES - chunk->used;
}

void chunk_u8(struct chunk *chunk, uint8_t value)
{
    if (fits(chunk, 1))
        chunk->at[chunk->used++] = value;
}

void chunk_u64(struct chunk *chunk, uint64_t value)
{
    if (!fits(chunk, sizeof value))
        return;
    put_u64(chunk->at + chunk->used, value);
    chunk->used += sizeof value;
}

void chunk_v(struct chunk *chunk, uint64_t value)
{
    if (fits(chunk, VARINT_MAX_BYTES))
        chunk->used = (size_t)(put_varint(chunk->at + chunk->used, value) - chunk->at);
}

void chunk_z(struct chunk *chunk, int64_t value)
{
    chunk_v(chunk, zigzag(value));
}

void chunk_bytes(struct chunk *chunk, const void *data, size_t size)
{
    if (!fits(chunk, VARINT_MAX_BYTES))
        return;
    size_t room = CHUNK_BYTES - chunk->used - VARINT_MAX_BYTES;
    if (size > room)
        size = room;
    chunk_v(chunk, size);
    memcpy(chunk->at + chunk->used, data, size);
    chunk->used += size;
}

void chunk_str(struct chunk *chunk, const char *string)
{
    chunk_bytes(chunk, string, strlen(string));
}

/* A thread may have a table of descriptors of its own, in which the number is another file's. */
static bool descriptor_is_the_file(void)
{
    struct stat now;
    return sys2(SYS_fstat, file.fd, &now) == 0 && now.st_dev == file.status.st_dev &&
           now.st_ino == file.status.st_ino;
}

bool chunk_commit(struct chunk *chunk)
{
    uint8_t *at = chunk->at;
    put_u32(at, CHUNK_MAGIC);
    put_u16(at + 4, (uint16_t)chunk->kind);
    put_u16(at + 6, 0);
    put_u32(at + 8, (uint32_t)(chunk->used - CHUNK_HEADER_SIZE));
    put_u32(at + 12, chunk->thread);
    uint32_t number = atomic_fetch_add(&file.chunks, 1);
    put_u32(at + 16, number);
    uint32_t crc = crc32_update(0, at, 20);
    crc = crc32_update(crc, at + CHUNK_HEADER_SIZE, chunk->used - CHUNK_HEADER_SIZE);
    put_u32(at + 20, crc);
    long error = descriptor_is_the_file() ? sys_write_all(file.fd, at, chunk->used) : -EBADF;
    if (error == 0)
        return true;
    uint32_t next = number + 1; /* the number is free again, unless a later one is in use */
    atomic_compare_exchange_strong(&file.chunks, &next, number);
    return failed(error);
}
