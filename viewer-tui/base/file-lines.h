/* A text file as an array of lines. */
#ifndef VIEWER_FILE_LINES_H
#define VIEWER_FILE_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct file_lines {
    char *bytes;     /* the file with a NUL in place of each newline */
    const char **at; /* at[0 .. n-1] */
    uint32_t n;
};

/* False, with no lines, if the file cannot be read, is not regular or is larger than 64 MiB. */
bool file_lines_read(struct file_lines *lines, const char *path);
void file_lines_free(struct file_lines *lines);

#endif
