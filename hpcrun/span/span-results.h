/* Work, span and burdened span of the program: the serial code, the computations that it called one
 * after the other, and sums by calling context. work-span.h and task-span.h measure computations.
 *
 * Normal context. Times are in strand_clock's unit. */
#ifndef HPCRUN_SPAN_SPAN_RESULTS_H
#define HPCRUN_SPAN_SPAN_RESULTS_H

#include "hpcrun/span/critical-path.h"
#include "hpcrun/span/grains.h"
#include "hpcrun/span/span-contexts.h"

/* The burden of a continuation, ns: Cilkview's 15,000 instructions, at three per nanosecond. */
#define SPAN_BURDEN_NS 5000u

/* ---- results ---- */

struct span_values {
    uint64_t work;          /* local: in the context's own procedures */
    uint64_t span;          /* local, on the longest path */
    uint64_t burdened_span; /* local, on the longest path with burdens */
    uint64_t spawns;        /* by the context's own procedures */
};

/* A time, and the number of measured strands in it. */
struct span_time {
    uint64_t time, strands;
    uint64_t error; /* the time is right within this; set by span_totals_correct */
};

struct span_totals {
    struct span_time work, span, burdened_span;
    uint64_t spawns, steals;
    uint64_t burden;    /* of one steal */
    bool is_incomplete; /* memory ran out, or an event came in an impossible order */
};

/* What measuring has added to each strand, so far. */
struct strand_excess span_excess(void);

/* Subtracts that from the times, and sets their errors. */
void span_totals_correct(struct span_totals *totals);

/* The sums up to now. False, with nothing done, while a computation runs, and in another thread than
 * the one that runs the serial code. */
bool work_span_now(struct span_totals *totals);

/* The sums up to the end of the last computation or serial strand. */
struct span_totals span_totals_so_far(void);

/* The sums up to the end of the serial strand. It ends now if the calling thread runs the serial code
 * and no computation runs; what that thread does afterwards is not measured. */
struct span_totals work_span_totals(void);

/* The program begins, or continues after that: the next serial strand begins. */
void work_span_go_on(void);

/* The values of a context after that, without what measuring has added. */
struct span_values work_span_values(uint32_t context, const struct strand_excess *excess);

/* A failure makes all values incomplete: memory ran out, or an event came in an impossible order. */
void span_fail(void);
bool span_has_failed(void);

/* ---- paths: those of critical-path.h, which fail without memory ---- */

static inline void span_append(struct critical_path *path, struct worker_memory *memory,
                               struct critical_path *tail)
{
    if (!path_append(path, memory, tail))
        span_fail();
}

static inline void span_change_owner(struct critical_path *path, struct worker_memory *memory,
                                     uint32_t from, uint32_t to)
{
    if (!path_change_owner(path, memory, from, to))
        span_fail();
}

/* ---- what the algorithms add ---- */

/* `burden` is that of the results. The program's first serial strand begins with work_span_go_on. */
void span_results_begin(uint64_t burden);

/* A computation begins in the calling thread. False if one was running. */
bool span_serial_ends(void);

/* The computation has ended, and the calling thread runs serial code again. */
void span_serial_begins(void);

/* The computation has ended, and another thread runs serial code again; it waits for this one. */
void span_serial_begins_in(int thread);

/* Whether no computation runs. Any thread. */
bool span_is_serial(void);

/* A computation of this work ended: its paths, whose owner is in `context`, are appended to the
 * program's. They are empty then. */
void span_add_computation(uint64_t work, struct critical_path *const path[KINDS], uint32_t context,
                          struct worker_memory *memory);

struct span_sums {
    uint64_t work, strands, spawns;
};

/* What one worker adds up. */
struct span_tally {
    struct span_tally *next;
    uint64_t steals;
    struct grain_classes classes;
    struct span_sums by[SPAN_CONTEXTS]; /* context */
};

static inline void span_tally_add(struct span_tally *tally, uint32_t context, uint64_t time)
{
    tally->by[context].work += time;
    tally->by[context].strands++;
}

/* A new tally, which is a part of the results; NULL without memory. */
struct span_tally *span_tally_new(void);

#endif
