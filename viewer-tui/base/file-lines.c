#include "viewer-tui/base/file-lines.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE (64 << 20)

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
    autofree char *cause = NULL;
    *lines = (struct file_lines){.bytes = input_read(path, LARGEST_FILE, &size, &cause)};
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
