/* The text of source files: from the copies in the database; else from the original paths, or where
 * the user's rules say that the files are now.
 *
 * A program can name any file as its source. So of files that not everybody may read, in a database
 * of another user than root only that user's files are shown; and to root no originals, except
 * below directories of `rules`. */
#ifndef VIEWER_SOURCE_H
#define VIEWER_SOURCE_H

#include "lib/hash-tables.h"
#include "lib/path.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/syntax.h"

#include <stdbool.h>
#include <stdint.h>

/* A text file as an array of lines. */
struct file_lines {
    char *bytes;     /* the file with a NUL in place of each newline */
    const char **at; /* at[0 .. n-1] */
    uint32_t n;
};

/* False, with no lines, if the file cannot be read, is not regular or is larger than 64 MiB. */
bool file_lines_read(struct file_lines *lines, const char *path);
void file_lines_free(struct file_lines *lines);

struct source {
    char *path; /* of the file that was read; NULL if none was found */
    struct file_lines lines;
    const struct syntax *syntax; /* NULL if unknown */
    uint8_t *states;             /* state of syntax_line before each line */
};

/* Cache of the source files of all open databases. */
struct sources {
    const struct path_rules *rules; /* other places to search; NULL: none */
    struct idmap numbers;           /* (database, file) -> index in `list` */
    VEC(struct source *) list;
};

/* The source file with this index in the database's table, read at the first call. Never NULL: a
 * file that is missing, not regular or larger than 64 MiB has no lines. Valid until sources_free.
 */
const struct source *sources_get(struct sources *sources, const struct database *db, uint32_t file);

/* The path of the file outside of the database, or NULL. The caller frees. */
char *source_original(const struct path_rules *rules, const struct database *db, uint32_t file);

/* The text of a line (counted from 1); NULL if there is none. */
const char *source_line(const struct source *source, uint32_t line);

/* Empties the cache. It can be used again, with the same rules. */
void sources_free(struct sources *sources);

#endif
