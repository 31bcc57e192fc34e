#include "viewer-tui/base/file-lines.h"

#include "lib/alloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (64 << 20)

/* The bytes of a regular file, with a NUL behind them; NULL if it cannot be read. */
static char *read_bytes(const char *path, size_t *size)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *bytes = NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LARGEST_FILE) {
        *size = (size_t)status.st_size;
        bytes = mem_alloc(*size + 1);
        ssize_t got = read(fd, bytes, *size);
        if (got != (ssize_t)*size) {
            free(bytes);
            bytes = NULL;
        }
    }
    close(fd);
    return bytes;
}

/* Finds the lines in the bytes. */
static void split(struct file_lines *file, size_t size)
{
    VEC(const char *) lines = {0};
    char *end = file->bytes + size;
    for (char *line = file->bytes; line < end;) {
        vec_push(&lines, line);
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline)
            break;
        *newline = '\0';
        if (newline > line && newline[-1] == '\r')
            newline[-1] = '\0';
        line = newline + 1;
    }
    file->at = lines.at;
    file->n = (uint32_t)lines.n;
}

bool file_lines_read(struct file_lines *lines, const char *path)
{
    size_t size = 0;
    *lines = (struct file_lines){.bytes = read_bytes(path, &size)};
    if (lines->bytes)
        split(lines, size);
    return lines->bytes != NULL;
}

void file_lines_free(struct file_lines *lines)
{
    free(lines->bytes);
    free(lines->at);
    *lines = (struct file_lines){0};
}
