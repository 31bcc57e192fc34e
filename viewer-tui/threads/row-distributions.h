/* The distributions over the threads of the costs of many rows, found in one pass over the threads'
 * values. Memory does not grow with the number of threads. */
#ifndef VIEWER_ROW_DISTRIBUTIONS_H
#define VIEWER_ROW_DISTRIBUTIONS_H

#include "viewer-tui/base/distribution.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/value-refs.h"

/* A value of which a row's cost is the sum. */
struct row_value_ref {
    uint32_t context;
    uint32_t row : 29; /* number of the row in this pass */
    uint32_t scope : 2;
    uint32_t is_subtracted : 1;
};

/* A zeroed one is empty; the owner frees it with vec_free(&refs.list). */
struct row_value_refs {
    VEC(struct row_value_ref) list;
};

void row_value_refs_add(struct row_value_refs *row_refs, uint32_t row,
                        const struct value_refs *refs);

/* Finds the distributions of rows 0 .. n_rows - 1 over the threads to which the database is
 * restricted, or all; their medians are NAN. Sorts the refs. DONE or STOPPED. */
enum outcome row_distributions(const struct database *db, struct row_value_refs *row_refs,
                               size_t metric, uint32_t n_rows, struct distribution *distributions);

#endif
