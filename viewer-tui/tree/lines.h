/* Dense numbers for lines of files, to tell call sites apart. */
#ifndef VIEWER_LINES_H
#define VIEWER_LINES_H

#include "lib/hash-tables.h"

/* A zeroed one has no lines; the owner frees ids with idmap_free. */
struct lines {
    struct idmap ids;
    uint32_t n;
};

/* The number of a line: the same for the same file and line, 0, 1, ... in order of appearance. */
static inline uint32_t lines_number(struct lines *lines, uint32_t file, uint32_t line)
{
    uint32_t number = idmap_get(&lines->ids, file, line);
    if (number == IDMAP_NONE) {
        number = lines->n++;
        idmap_put(&lines->ids, file, line, number);
    }
    return number;
}

#endif
