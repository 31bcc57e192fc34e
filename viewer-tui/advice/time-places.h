/* The lines of the user's own code (code-owner.h) where a program's time goes: the line itself has the time, or it
 * calls procedures of others that have it. */
#ifndef VIEWER_TIME_PLACES_H
#define VIEWER_TIME_PLACES_H

#include "viewer-tui/advice/libc-procedures.h"
#include "viewer-tui/threads/thread-values.h"
#include "viewer-tui/tree/code-owner.h"

/* A time: a metric, or a metric minus one that is a part of it. */
struct time_metric {
    size_t metric, without; /* NO_METRIC: none */
};

#define NO_METRIC SIZE_MAX

struct source_line {
    uint32_t file, line; /* NOTHING, 0 if unknown */
};

struct time_place {
    uint32_t procedure;    /* the innermost one of the user's own on the path; if there is none, the innermost one of a
                              package, or around it one of its module that has a name; else the one with the time;
                              NOTHING: unknown */
    enum code_owner owner; /* of the procedure */
    struct source_line at; /* in the procedure */
    struct source_line loop;   /* the innermost loop around that line in the procedure */
    struct source_line around; /* without one: the innermost loop around the call of the procedure, if the user's own */
    uint32_t callee;           /* the procedure of others that the line calls; NOTHING: none */
    uint32_t callee_module;    /* NOTHING: unknown */
    enum wait wait;            /* what the callee waits for */
    bool is_system_call;       /* the time is in a system call */
    bool is_of_lock;           /* the time is at a row that stands for a lock (is_name_of_lock) */
    bool is_without_cpu;       /* that row is is_name_of_lock_without_cpu */
    uint32_t leaf;             /* the procedure that has the time itself */
    uint32_t leaf_module;      /* NOTHING: unknown */
    bool has_line;             /* the code that has the time has source lines */
    double seconds;
    struct value_refs refs; /* the values of which this is the sum */
    struct value_refs joined_refs; /* those of another metric (time_places_join) */
    double saved; /* seconds by which a run without this waiting is shorter, estimated (lone-waits.h); INFINITY: unknown */
};

struct time_places {
    VEC(struct time_place) list; /* the longest times first */
    double total;
};

/* The places of a row of a top-down view, or of a row above all procedures of a flat one; none if the time was not
 * measured. The caller frees. */
struct time_places time_places_find(struct view *view, uint32_t row, struct time_metric time);
void time_places_free(struct time_places *places);

/* Adds places of another metric, and takes these, with their refs as joined_refs. */
void time_places_join(struct time_places *places, struct time_places *others);

/* The sum of the values in each profile, and 0 for database_n_profiles; all are 0 if the user stopped it. The caller
 * frees. Sorts the refs. */
double *time_by_profile(const struct view *view, struct value_refs *refs, struct time_metric time);

/* The time of a row, summed over the threads. */
double time_cost(const struct view *view, uint32_t row, struct time_metric time, enum cost_part part);

#endif
