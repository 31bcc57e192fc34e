/* A text file, cut into lines. */
#ifndef VIEWER_FILE_LINES_H
#define VIEWER_FILE_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct file_lines {
    char *bytes;     /* the file, with a NUL in place of each end of line */
    const char **at; /* at[0 .. n-1] */
    uint32_t n;
};

/* False, leaving none, when it is no regular file, larger than 64 MiB or cannot be read. */
bool file_lines_read(struct file_lines *lines, const char *path);
void file_lines_free(struct file_lines *lines);

#endif
