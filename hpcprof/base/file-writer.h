/* Writes a file from its beginning to its end, and keeps track of the offset. Earlier bytes can be
 * overwritten when their values are known. The first error is kept; file_close reports it and ends
 * the process. */
#ifndef HPCPROF_FILE_WRITER_H
#define HPCPROF_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct team_file;

struct file_writer {
    char *path;
    int fd;
    _Atomic int error; /* errno of a failure; 0: none */
    uint64_t offset; /* of the next byte in the file */
    size_t buffered; /* bytes in the buffer */
    uint8_t *buffer;
    uint64_t written;         /* of a shared file: offset of the first byte in the buffer */
    struct team_file *shared; /* all ranks of a team write to it; NULL: it is of this process */
    bool is_silent;           /* another rank writes the bytes */
};

/* Creates the file, which must not exist. */
void file_create(struct file_writer *file, const char *path);

/* The same for a file that all ranks of a team write (hpcprof/team/team.h): each goes through the
 * whole file, and writes the bytes for which it is not silent. At first all but rank 0 are. */
void file_create_shared(struct file_writer *file, const char *path);

/* Whether this rank writes what follows; no effect in a team of one. */
void file_set_silent(struct file_writer *file, bool is_silent);

/* Moves on by bytes that another rank writes. */
void file_skip(struct file_writer *file, size_t size);

void file_write(struct file_writer *file, const void *data, size_t size);

/* The same, by up to `workers` threads; one writes to a shared file. */
void file_write_by(struct file_writer *file, const void *data, size_t size, unsigned workers);

/* Leaves room for bytes that file_write_at writes; not for shared files. Returns their offset. */
uint64_t file_leave(struct file_writer *file, size_t size);

/* Writes to room that was left. Several threads may do so at once. */
void file_write_at(struct file_writer *file, uint64_t offset, const void *data, size_t size);

/* Writes a string with its terminator. */
void file_write_string(struct file_writer *file, const char *text);

/* Writes zeros until the offset is a multiple of `alignment`; returns the offset. */
uint64_t file_align(struct file_writer *file, unsigned alignment);

/* All ranks of a team then can read what all have written. */
void file_sync(struct file_writer *file);

/* Overwrites bytes that were written before. */
void file_patch(struct file_writer *file, uint64_t offset, const void *data, size_t size);

/* Closes the file. Ends the process with a message if anything could not be written. */
void file_close(struct file_writer *file);

/* Copies the rest of an open file, at most `most` bytes, to the new file `to`. `path`: name of the
 * open file for messages. `mode`: permissions of the new file; 0: the umask decides. Returns false
 * if the file cannot be read; ends the process if the copy cannot be written. */
bool copy_file(int from, const char *path, uint64_t most, const char *to, mode_t mode);

#endif
