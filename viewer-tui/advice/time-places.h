/* The lines of user code where a program's time goes: the line itself has the time, or it calls the
 * system's procedures that have it. */
#ifndef VIEWER_TIME_PLACES_H
#define VIEWER_TIME_PLACES_H

#include "viewer-tui/advice/user-code.h"
#include "viewer-tui/threads/value-refs.h"

/* A time: a metric, or a metric minus one that is a part of it. */
struct time_metric {
    size_t metric, without; /* NO_METRIC: none */
};

#define NO_METRIC SIZE_MAX

struct time_place {
    uint32_t procedure;  /* of user code; if there is none on the path, the one with the time */
    uint32_t file, line; /* in the procedure; NOTHING, 0 if unknown */
    bool is_user_code;   /* false: there is none on the path */
    uint32_t callee;     /* the system's procedure that the line calls; NOTHING: none */
    uint32_t loop_file, loop_line; /* of the innermost loop around the line; NOTHING, 0: none */
    enum wait wait;                /* what the callee waits for */
    bool is_system_call;           /* the time is in a system call */
    uint32_t leaf;                 /* a procedure that has the time itself */
    uint32_t leaf_module;          /* of the leaf; NOTHING if unknown */
    bool has_line;                 /* the code that has the time has source lines */
    double seconds;
    struct value_refs refs; /* the values of which this is the sum */
};

struct time_places {
    VEC(struct time_place) list; /* the longest times first */
    double total;
};

/* The places of a row of a top-down view. The caller frees. */
struct time_places time_places_find(struct view *view, uint32_t row, struct time_metric time,
                                    const json_t *run);
void time_places_free(struct time_places *places);

/* The time of a row, summed over the threads. */
double time_cost(const struct view *view, uint32_t row, struct time_metric time,
                 enum cost_part part);

#endif
