/* What threads did in equal pieces of time, of the records of their time line.
 *
 * A window of time has columns, and a row of threads a cell in each. A record adds its amount to the cells that its
 * interval reaches into, in proportion: nothing depends on which record of a cell comes last. Amounts are
 * nanoseconds, or counts if the event counts something else. */
#ifndef VIEWER_TIME_CELLS_H
#define VIEWER_TIME_CELLS_H

#include "viewer-tui/db/timeline.h"

struct time_window {
    uint64_t begin, end; /* begin < end */
    unsigned n;          /* columns, > 0 */
};

struct time_cell {
    double states[TRACE_STATES]; /* by state */
    double cpu;                  /* of that, on a CPU as far as that is known */
    double marked;               /* of that, in marked places */
    uint32_t value;              /* of places, the one with the most in this cell; NOTHING: none has any */
    double of_value;             /* its amount */
};

/* What cells are asked for. Arrays are by place. */
struct time_query {
    const struct timeline *timeline;
    struct time_window window;
    const uint32_t *values; /* numbers below n_values, or NOTHING; NULL: none are asked for */
    uint32_t n_values;
    const bool *marks; /* NULL: none are marked */
};

/* Finds the cells[0 .. window.n - 1] of a row, the sum over n threads. */
void time_cells_find(const struct time_query *query, const struct timeline_thread *const *threads, size_t n,
                     struct time_cell *cells);

/* All states of a cell. */
double time_cell_sum(const struct time_cell *cell);

/* Whether the time of a record was spent on a CPU, as far as that is known. `has_waits`: timeline_has_waits. */
static inline bool record_ran(bool has_waits, uint64_t amount)
{
    enum trace_state state = trace_state(amount);
    bool runs_while_waiting = amount & TRACE_AS_WAITING && state == TRACE_WAITING;
    return !has_waits || state == TRACE_WORK || state == TRACE_OVERHEAD || runs_while_waiting;
}

/* Begin of a column; of column n the window's end. */
uint64_t time_window_at(const struct time_window *window, unsigned column);

/* The column of a time in the window, or the nearest one. */
unsigned time_window_column(const struct time_window *window, uint64_t time);

/* The begins of the columns, and the window's end. The caller frees. */
uint64_t *time_window_bounds(const struct time_window *window);

/* What is done with the part of an amount that is in a column. */
typedef void column_adder(void *context, unsigned column, double part);

/* Divides the amount of an interval among the n columns with these bounds, from *column on, which becomes the last that it
 * reaches into: intervals come in ascending order. One without length is in one column. In line, so that `add` is
 * known. */
static inline __attribute__((always_inline)) void time_window_divide(const uint64_t *bounds, unsigned n,
                                                                     unsigned *column, uint64_t begin, uint64_t end,
                                                                     double amount, column_adder *add, void *context)
{
    while (*column + 1 < n && bounds[*column + 1] <= begin)
        ++*column;
    if (begin >= bounds[*column] && (end <= bounds[*column + 1] || begin == end)) {
        add(context, *column, amount);
        return;
    }
    double density = amount / (double)(end - begin);
    for (;; ++*column) {
        uint64_t from = begin > bounds[*column] ? begin : bounds[*column];
        uint64_t to = end < bounds[*column + 1] ? end : bounds[*column + 1];
        if (to > from)
            add(context, *column, (double)(to - from) * density);
        if (end <= bounds[*column + 1] || *column + 1 == n)
            return;
    }
}

#endif
