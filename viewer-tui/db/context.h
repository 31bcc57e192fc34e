/* Contexts of the tree in meta.db, read one after the other where they lie.
 *
 * The children of a context are an array of structures of varying size somewhere in the section.
 * A damaged file can make such arrays overlap or lead back upwards: a reader that descends by
 * itself must stop after contexts_limit() contexts. */
#ifndef VIEWER_CONTEXT_H
#define VIEWER_CONTEXT_H

#include "viewer-tui/db/database.h"

/* What is left to read of an array of contexts. */
struct context_range {
    uint64_t at, end;
};

struct context {
    enum scope_kind kind; /* PROCEDURE, INLINED, LOOP, STATEMENT or INSTRUCTION */
    uint32_t id;          /* of its values */
    uint32_t place;       /* id of the procedure; of a loop or statement index of its file, or what
                             stands for it (database_point_file) */
    uint32_t line;        /* of a loop or statement, 0 unknown */
    struct context_range children;
};

static inline bool context_has_children(const struct context *context)
{
    return context->children.at < context->children.end;
}

/* No tree in this section has more contexts. */
uint64_t contexts_limit(const struct database *db);

/* The contexts directly below an entry point. */
struct context_range entry_children(const struct database *db, const struct v4_entry *entry);

/* Reads the context at range->at and advances; false at the end. A damaged context ends the
 * range, with the problem noted. */
bool context_next(struct database *db, struct context_range *range, struct context *context);

#endif
