/* Writes a file from its beginning to its end, and keeps track of the offset. Earlier bytes can be
 * overwritten when their values are known. The first error is kept; file_close reports it and ends
 * the process. */
#ifndef HPCPROF_FILE_WRITER_H
#define HPCPROF_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_writer {
    char *path;
    int fd;
    int error;       /* errno of the first failure; 0: none */
    uint64_t offset; /* of the next byte in the file */
    size_t buffered; /* bytes in the buffer */
    uint8_t *buffer;
};

/* Creates the file, which must not exist. */
void file_create(struct file_writer *file, const char *path);

void file_write(struct file_writer *file, const void *data, size_t size);

/* Writes a string with its terminator. */
void file_write_string(struct file_writer *file, const char *text);

/* Writes zeros until the offset is a multiple of `alignment`; returns the offset. */
uint64_t file_align(struct file_writer *file, unsigned alignment);

/* Overwrites bytes that were written before. */
void file_patch(struct file_writer *file, uint64_t offset, const void *data, size_t size);

/* Closes the file. Ends the process with a message if anything could not be written. */
void file_close(struct file_writer *file);

/* Copies the rest of an open file, at most `most` bytes, to the new file `to`. `path`: name of the
 * open file for messages. `mode`: permissions of the new file; 0: the umask decides. Returns false
 * if the file cannot be read; ends the process if the copy cannot be written. */
bool copy_file(int from, const char *path, uint64_t most, const char *to, mode_t mode);

#endif
