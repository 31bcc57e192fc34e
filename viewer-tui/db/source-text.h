/* The text of source files: the copies in the database, else the files where they were or where
 * the user says that they are now. */
#ifndef VIEWER_SOURCE_H
#define VIEWER_SOURCE_H

#include "lib/path.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/syntax.h"

struct source {
    char *path;         /* where it was read; NULL when it was not found */
    char *bytes;        /* the file, with a NUL in place of each end of line */
    const char **lines; /* lines[0 .. n_lines-1] */
    uint32_t n_lines;
    const struct syntax *syntax; /* NULL when it is not known */
    uint8_t *states;             /* of the syntax before each line */
};

/* Files that were read, by index in the database's table. */
struct sources {
    const struct path_rules *rules; /* where else to look; NULL: nowhere */
    struct source **at;
    size_t n;
};

/* The source file of that index, read when it is asked for the first time. Never NULL: a file
 * that is not there, is none or is larger than 64 MiB has no lines. Valid until sources_free. */
const struct source *sources_get(struct sources *sources, const struct database *db, uint32_t file);

/* Where the file is outside of the database, or NULL; the caller frees. */
char *source_original(const struct path_rules *rules, const struct database *db, uint32_t file);

/* The text of a line (counted from 1); NULL when there is none. */
const char *source_line(const struct source *source, uint32_t line);

/* Leaves it empty and usable, with the same rules. */
void sources_free(struct sources *sources);

#endif
