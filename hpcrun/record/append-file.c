#include "hpcrun/record/append-file.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "lib/chunk.h"

#include <stdatomic.h>
#include <sys/stat.h>

static struct {
    int fd;
    bool is_parents;
    struct stat status; /* at its creation */
    _Atomic long error;
    _Atomic uint64_t failures;
} file = {.fd = -1};

int file_create(int directory, const char *name)
{
    int fd = fds_open(directory, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | OUTPUT_FLAGS,
                      output_file_mode());
    if (fd < 0)
        return fd;
    if (file.is_parents)
        fds_close(file.fd);
    file.is_parents = false;
    file.fd = fd;
    sys2(SYS_fstat, fd, &file.status);
    return 0;
}

void file_keep_parents(void)
{
    file.is_parents = true;
}

bool file_is_parents(void)
{
    return file.is_parents;
}

bool file_failed(long error)
{
    atomic_store(&file.error, error);
    atomic_fetch_add(&file.failures, 1);
    return false;
}

/* False in a thread with a descriptor table of its own, in which the number belongs to another
 * file. */
static bool descriptor_is_the_file(void)
{
    struct stat now;
    return sys2(SYS_fstat, file.fd, &now) == 0 && now.st_dev == file.status.st_dev &&
           now.st_ino == file.status.st_ino;
}

/* The head of a CHILD chunk with these data: which process they are of. */
struct envelope {
    uint8_t at[CHUNK_HEADER_SIZE + 2 * VARINT_MAX_BYTES];
    size_t size;
};

static struct envelope envelope_for(const void *data, size_t size)
{
    struct envelope head;
    uint8_t *end = put_varint(head.at + CHUNK_HEADER_SIZE, (uint64_t)process.pid);
    head.size = (size_t)(put_varint(end, process.start_ticks) - head.at);
    size_t key = head.size - CHUNK_HEADER_SIZE;
    chunk_header_put(head.at, CHUNK_CHILD, CHUNK_NO_THREAD, CHUNK_NO_NUMBER, key + size);
    uint32_t crc = crc32_update(0, head.at, CHUNK_CRC_OFFSET);
    crc = crc32_update(crc, head.at + CHUNK_HEADER_SIZE, key);
    put_u32(head.at + CHUNK_CRC_OFFSET, crc32_update(crc, data, size));
    return head;
}

/* A filter may forbid writev. */
static long write_wrapped(const void *data, size_t size)
{
    if (process_is_restricted())
        return -EPERM;
    struct envelope head = envelope_for(data, size);
    return sys_write_all_two(file.fd, head.at, head.size, data, size);
}

bool file_write(const void *data, size_t size)
{
    long error = !descriptor_is_the_file() ? -EBADF
                 : file.is_parents         ? write_wrapped(data, size)
                                           : sys_write_all(file.fd, data, size);
    return error == 0 || file_failed(error);
}

void file_close(void)
{
    fds_close(file.fd);
    file.is_parents = false;
}

void file_close_or_reserve(void)
{
    fds_close_or_reserve(file.fd);
    file.is_parents = false;
}

uint64_t file_failures(long *error)
{
    *error = atomic_load(&file.error);
    return atomic_load(&file.failures);
}

void file_forget_failures(void)
{
    atomic_store(&file.failures, 0);
}
