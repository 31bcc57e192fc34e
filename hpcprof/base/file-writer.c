#include "hpcprof/base/file-writer.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/team/team.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/parallel.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (1 << 18)

/* What one thread writes at once. */
#define PIECE_SIZE ((size_t)4 << 20)

void file_create(struct file_writer *file, const char *path)
{
    *file = (struct file_writer){.path = mem_strdup(path), .buffer = mem_alloc(BUFFER_SIZE)};
    file->fd = output_create(path);
    if (file->fd < 0)
        file->error = errno;
}

void file_create_shared(struct file_writer *file, const char *path)
{
    if (team_is_alone()) {
        file_create(file, path);
        return;
    }
    if (team_is_first()) {
        int fd = output_create(path);
        if (fd < 0 || close(fd) != 0)
            diag_fatal(path, "%s", strerror(errno));
    }
    team_wait();
    *file = (struct file_writer){.path = mem_strdup(path),
                                 .fd = -1,
                                 .buffer = mem_alloc(BUFFER_SIZE),
                                 .shared = team_file_open(path),
                                 .is_silent = !team_is_first()};
}

/* Writes `size` bytes before the current offset. */
static void write_shared(struct file_writer *file, uint64_t offset, const void *data, size_t size)
{
    if (size && !file->error && !team_file_write(file->shared, offset, data, size))
        file->error = EIO;
}

void file_write_at(struct file_writer *file, uint64_t offset, const void *data, size_t size)
{
    const uint8_t *from = data;
    while (size && !file->error) {
        ssize_t written = pwrite(file->fd, from, size, (off_t)offset);
        if (written < 0 && errno != EINTR)
            file->error = errno;
        if (written > 0) {
            from += written;
            offset += (uint64_t)written;
            size -= (size_t)written;
        }
    }
}

/* Writes what is not in the buffer any more. */
static void write_out(struct file_writer *file, const uint8_t *data, size_t size)
{
    if (file->shared)
        write_shared(file, file->written, data, size);
    else
        file_write_at(file, file->written, data, size);
    file->written += size;
}

static void flush(struct file_writer *file)
{
    write_out(file, file->buffer, file->buffered);
    file->buffered = 0;
}

void file_set_silent(struct file_writer *file, bool is_silent)
{
    if (!file->shared)
        return;
    flush(file);
    file->is_silent = is_silent;
}

void file_skip(struct file_writer *file, size_t size)
{
    assert(file->is_silent);
    file->offset += size;
}

void file_write(struct file_writer *file, const void *data, size_t size)
{
    if (file->is_silent) {
        file_skip(file, size);
        return;
    }
    if (file->buffered == 0)
        file->written = file->offset;
    file->offset += size;
    if (size > BUFFER_SIZE - file->buffered)
        flush(file);
    if (size > BUFFER_SIZE) {
        write_out(file, data, size);
    } else if (size) {
        memcpy(file->buffer + file->buffered, data, size);
        file->buffered += size;
    }
}

void file_write_string(struct file_writer *file, const char *text)
{
    file_write(file, text, strlen(text) + 1);
}

uint64_t file_align(struct file_writer *file, unsigned alignment)
{
    static const uint8_t zeros[8];
    assert(alignment && alignment <= sizeof zeros);
    unsigned over = (unsigned)(file->offset % alignment);
    if (over)
        file_write(file, zeros, alignment - over);
    return file->offset;
}

void file_patch(struct file_writer *file, uint64_t offset, const void *data, size_t size)
{
    assert(offset + size <= file->offset);
    if (file->is_silent)
        return;
    flush(file);
    if (file->shared) {
        write_shared(file, offset, data, size);
        return;
    }
    file_write_at(file, offset, data, size);
}

uint64_t file_leave(struct file_writer *file, size_t size)
{
    assert(!file->shared);
    uint64_t offset = file->offset;
    flush(file);
    file->offset += size;
    return offset;
}

/* Bytes that several threads write to room that was left for them. */
struct pieces {
    struct file_writer *file;
    uint64_t offset;
    const uint8_t *data;
    size_t size;
};

static void write_piece(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct pieces *pieces = context;
    size_t at = index * PIECE_SIZE, left = pieces->size - at;
    file_write_at(pieces->file, pieces->offset + at, pieces->data + at,
                  left < PIECE_SIZE ? left : PIECE_SIZE);
}

void file_write_by(struct file_writer *file, const void *data, size_t size, unsigned workers)
{
    if (file->shared) {
        file_write(file, data, size);
        return;
    }
    struct pieces pieces = {file, file_leave(file, size), data, size};
    parallel_for((size + PIECE_SIZE - 1) / PIECE_SIZE, workers, write_piece, &pieces);
}

void file_sync(struct file_writer *file)
{
    flush(file);
    if (file->shared && !team_file_sync(file->shared) && !file->error)
        file->error = EIO;
}

void file_close(struct file_writer *file)
{
    flush(file);
    if (file->shared && !team_file_close(file->shared) && !file->error)
        file->error = EIO;
    if (file->fd >= 0 && close(file->fd) != 0 && !file->error)
        file->error = errno;
    if (file->error)
        diag_fatal(file->path, "%s", strerror(file->error));
    free(file->path);
    free(file->buffer);
}

bool copy_file(int from, const char *path, uint64_t most, const char *to, mode_t mode)
{
    struct file_writer out;
    file_create(&out, to);
    if (mode && !out.error && fchmod(out.fd, mode) != 0)
        out.error = errno;
    char buffer[1 << 16];
    ssize_t size = 1;
    while (most && (size = read(from, buffer, most < sizeof buffer ? most : sizeof buffer)) > 0) {
        file_write(&out, buffer, (size_t)size);
        most -= (uint64_t)size;
    }
    if (size < 0)
        diag_error(path, "cannot be copied: %s", strerror(errno));
    file_close(&out);
    return size >= 0;
}
