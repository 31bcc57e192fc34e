/* Sums over the records of a piece of time, by place, state and flags; and what such a sum pays.
 *
 * A record that is only partly about the piece counts for that part. The parts of adjoining pieces add up to the
 * record, to the unit, and those from 0 to timeline->end are all. */
#ifndef VIEWER_RECORD_SUMS_H
#define VIEWER_RECORD_SUMS_H

#include "viewer-tui/db/time-ranges.h"
#include "viewer-tui/db/timeline.h"

/* What records with one place, state and flags have together. */
struct record_sum {
    uint32_t place; /* index in timeline->places; without one (IDLE, NOBODY, RUNTIME, DROPPED) any */
    uint32_t next;  /* of this place: 1 + index of the next one in the list; 0: none */
    uint32_t flags; /* enum trace_flag */
    enum trace_state state;
    uint64_t amount; /* fixed point of the event */
    uint64_t n;      /* samples (of a thinned trace records) that end in the piece: of those with one time the first */
};

/* A zeroed one is empty. */
struct record_sums {
    VEC(struct record_sum) list;
    uint32_t *first;    /* by place: 1 + index in the list; 0: none */
    double squares; /* sum of the squares of their amounts: how precise shares are */
};

/* Adds the records of a thread. Always of the same time line. */
void record_sums_add(struct record_sums *sums, const struct timeline *timeline, const struct timeline_thread *thread,
                     struct time_range range);
void record_sums_clear(struct record_sums *sums);
void record_sums_free(struct record_sums *sums);

/* The same by state alone, which is faster. */
struct state_sums {
    uint64_t amounts[TRACE_STATES], counts[TRACE_STATES];
    uint64_t waiting_on_cpu; /* that of WAITING with TRACE_AS_WAITING: the thread ran */
    double squares;
};

void state_sums_add(struct state_sums *sums, const struct timeline *timeline, const struct timeline_thread *thread,
                    struct time_range range);

/* Metrics of the traced event that records pay (doc/metrics.md). */
enum record_metric {
    PAYS_WORK,
    PAYS_OVERHEAD, /* and its kind, if the place has one */
    PAYS_WAITING,
    PAYS_WALL,
    PAYS_IDLENESS,
    PAYS_INCOMPLETE,
    PAYS_LOCK_BLAME,
    PAYS_OFF_CPU,
    PAYS_READY,
    PAYS_KERNEL,
    RECORD_METRICS
};

/* The payments of a sum, in the fixed point of the event; 0 of what it does not pay. */
struct payments {
    double of[RECORD_METRICS];
};

struct payments record_payments(const struct timeline *timeline, const struct record_sum *sum);

#endif
