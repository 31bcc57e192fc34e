/* Reads contexts of the tree in meta.db, one after the other, in place.
 *
 * The children of a context are an array of structures of varying size somewhere in the section. In
 * a damaged file such arrays may overlap or form cycles, so a reader must stop after
 * contexts_limit() contexts. */
#ifndef VIEWER_CONTEXT_H
#define VIEWER_CONTEXT_H

#include "viewer-tui/db/database.h"

/* The part of an array of contexts that is still to be read: offsets in meta.db. */
struct context_range {
    uint64_t at, end;
};

struct context {
    enum scope_kind kind; /* PROCEDURE, INLINED, LOOP, STATEMENT or INSTRUCTION */
    uint32_t id;          /* of its values */
    uint32_t place;       /* id of the procedure; for a loop or statement the index of its file, or
                             of the point in its place (database_point_file) */
    uint32_t line;        /* of a loop or statement; 0 unknown */
    struct context_range children;
};

static inline bool context_has_children(const struct context *context)
{
    return context->children.at < context->children.end;
}

/* Upper limit of the number of contexts in the section. */
uint64_t contexts_limit(const struct database *db);

/* The contexts directly below an entry point. */
struct context_range entry_children(const struct database *db, const struct v4_entry *entry);

/* Reads the context at range->at and advances; false at the end. A damaged context ends the range,
 * with the problem noted. */
bool context_next(struct database *db, struct context_range *range, struct context *context);

#endif
