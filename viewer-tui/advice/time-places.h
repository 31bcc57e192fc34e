/* Where a program's time goes, by the line of user code that is responsible: the line where the
 * time is, or which called the procedures of the system where it is. */
#ifndef VIEWER_TIME_PLACES_H
#define VIEWER_TIME_PLACES_H

#include "viewer-tui/advice/user-code.h"
#include "viewer-tui/threads/value-refs.h"

/* A time that is a metric, or a metric without another one that is a part of it. */
struct time_metric {
    size_t metric, without; /* NO_METRIC: there is none */
};

#define NO_METRIC SIZE_MAX

struct time_place {
    uint32_t procedure;  /* of user code; without one on the path where the time is */
    uint32_t file, line; /* in it; NOTHING, 0 unknown */
    bool is_user_code;   /* false: there is none on the path */
    uint32_t callee;     /* the procedure of the system that the line calls; NOTHING: none */
    uint32_t loop_file, loop_line; /* the innermost loop around the line; NOTHING, 0 for none */
    enum wait wait;                /* what is waited for in what it calls */
    bool is_system_call;           /* the time is in a system call */
    uint32_t leaf;                 /* a procedure that has the time itself */
    uint32_t leaf_module;          /* its module; NOTHING unknown */
    bool has_line;                 /* the code that has the time has source lines */
    double seconds;
    struct value_refs refs; /* of contexts whose own times these are */
};

struct time_places {
    VEC(struct time_place) list; /* the longest times first */
    double total;
};

/* Those of a row of a top-down view. The caller frees. */
struct time_places time_places_find(struct view *view, uint32_t row, struct time_metric time,
                                    const json_t *run);
void time_places_free(struct time_places *places);

/* The sum over the threads of what a row of any view has. */
double time_cost(const struct view *view, uint32_t row, struct time_metric time,
                 enum cost_part part);

#endif
