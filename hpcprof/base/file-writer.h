/* Writes a file from its beginning to its end, with an eye on offsets; what stands before and is
 * known later is patched. Errors stick: they are told, and end the process, at file_close. */
#ifndef HPCPROF_FILE_WRITER_H
#define HPCPROF_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_writer {
    char *path;
    int fd;
    int error;       /* errno of the first failure, or 0 */
    uint64_t offset; /* of the next byte */
    size_t buffered;
    uint8_t *buffer;
};

/* Creates the file, which must not be there. */
void file_create(struct file_writer *file, const char *path);

void file_write(struct file_writer *file, const void *data, size_t size);

/* A string with its terminator. */
void file_write_string(struct file_writer *file, const char *text);

/* Writes zeros until the offset is a multiple of `alignment`; returns the offset. */
uint64_t file_align(struct file_writer *file, unsigned alignment);

/* Writes over bytes that were written before. */
void file_patch(struct file_writer *file, uint64_t offset, const void *data, size_t size);

/* Ends the process with a message if anything could not be written. */
void file_close(struct file_writer *file);

/* Copies what is left of an open file, `most` bytes at most, to a new one; `path` is its name in a
 * message, `mode` the new one's permissions, 0: as the umask leaves them. False when it cannot be
 * read; what cannot be written ends the process. */
bool copy_file(int from, const char *path, uint64_t most, const char *to, mode_t mode);

#endif
