/* How what rows cost is spread over the threads: of many rows in one pass over the values of
 * threads, with memory for what is added up and for the rows, whatever the number of threads. */
#ifndef VIEWER_THREAD_SPREADS_H
#define VIEWER_THREAD_SPREADS_H

#include "viewer-tui/base/spread.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/terms.h"

/* A value of a context that is to be added to those of a row. */
struct addend {
    uint32_t context;
    uint32_t row : 30; /* one of those of the pass, from 0 on */
    uint32_t scope : 2;
};

/* A zeroed one is empty; the owner frees it with vec_free(&addends.list). */
struct addends {
    VEC(struct addend) list;
};

void addends_add(struct addends *addends, uint32_t row, const struct terms *terms);

/* Finds the spreads of rows 0 .. n_rows - 1 over the threads that count: those that the database is
 * restricted to, or all; without the median, which is NAN. Sorts the addends. DONE or
 * STOPPED. */
enum outcome thread_spreads(const struct database *db, struct addends *addends, size_t metric,
                            uint32_t n_rows, struct spread *spreads);

#endif
