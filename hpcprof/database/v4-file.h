/* The common parts of v4 files: header, table of sections, footer, propagation scopes and kinds
 * of ids (doc/FORMAT-database.md, section 1). */
#ifndef HPCPROF_V4_FILE_H
#define HPCPROF_V4_FILE_H

#include "hpcprof/base/file-writer.h"

#include "lib/database-format.h"

/* Creates the file and leaves room for its header and `count` sections. */
void v4_create(struct file_writer *file, const char *path, const char *format, size_t count);

/* The same for a file that all ranks of a team write (file_create_shared). */
void v4_create_shared(struct file_writer *file, const char *path, const char *format, size_t count);

/* Writes footer and sections, and closes the file. */
void v4_close(struct file_writer *file, const char *footer, const struct v4_section *sections,
              size_t count);

/* The propagation scopes, in the order of metric ids: metric m, scope s has the id PROPAGATIONS * m
 * + s. */
enum propagation_scope {
    PROPAGATE_POINT,
    PROPAGATE_FUNCTION,
    PROPAGATE_LEX_AWARE,
    PROPAGATE_EXECUTION,
    PROPAGATIONS
};

extern const char *const propagation_names[PROPAGATIONS];

/* More metrics do not fit into the ids of the v4 format. */
#define MAX_METRICS (UINT16_MAX / PROPAGATIONS)

/* The kinds of ids in the identifier tuples that name threads. */
enum id_kind { ID_SUMMARY, ID_NODE, ID_RANK, ID_PROCESS, ID_THREAD, ID_KINDS };

extern const char *const id_kind_names[ID_KINDS];

#endif
