/* Opens the files that the tools read. Their names come from users, binaries and measurements, and
 * another user may have put something else there: a FIFO would make a tool wait forever, and a
 * device may have no end. So all but regular files are refused. lib/trusted-path.h says whose word
 * a file is.
 *
 * If a function fails, it sets *cause to a line that says why, which the caller frees, and errno
 * (EINVAL: not a regular file). */
#ifndef LIB_SAFE_INPUT_H
#define LIB_SAFE_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Returns a descriptor, close-on-exec, and sets *status; -1 on failure. */
int input_open(const char *path, struct stat *status, char **cause);

/* The same file as a stream; NULL on failure. */
FILE *input_stream(const char *path, char **cause);

/* The bytes of the file, and a byte 0 after them; the caller frees. NULL if it cannot be read or
 * has more than `most` bytes. */
char *input_read(const char *path, size_t most, size_t *size, char **cause);

/* The bytes of the file in memory, status->st_size of them; the caller unmaps them. NULL on
 * failure, also if the file is empty. */
const uint8_t *input_map(const char *path, struct stat *status, char **cause);

/* The same for a file that is open, such as the output of a program, and stays so. NULL, with errno set
 * (ENODATA: it is empty), on failure. */
const uint8_t *input_map_open(int fd, struct stat *status);

/* Most bytes that the packed parts of a file of `size` bytes may unpack to: a small file must not
 * take all memory. 64 times its size, or 16 MiB if that is more. Measured (zlib): the debug sections
 * of a program have 5 times, instructions.json.gz 3 times; a line table of generated code alone has
 * 271 to 658 times, so the size of the whole file counts. */
size_t input_most_unpacked(size_t size);

#endif
