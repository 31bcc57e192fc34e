/* Gives each record of perf's rings to the worker of its process. What begins and ends processes and images also begins
 * and ends workers (image-workers.h). */
#ifndef HPCRUN_OUTSIDE_RECORD_ROUTER_H
#define HPCRUN_OUTSIDE_RECORD_ROUTER_H

#include "hpcrun/outside/perf-rings.h"

/* `gains_rights`: the worker of the given process does not begin with its exec, as the kernel ends its events.
 * `has_waits`: workers need to know when threads wait. */
void record_router_init(bool gains_rights, bool has_waits);

/* A perf_record_visit_function. A sample that finds no room in its worker's queue stays in its ring. */
bool record_route(const struct perf_event_header *record, bool is_urgent);

/* Whether the command that is measured has begun. */
bool record_router_saw_exec(void);

/* CLOCK_MONOTONIC of the last begins of a process, or of a program in one, unless it is the command's own and none of
 * has_waits; and of anything, threads included; 0: there was none. And the number of samples since the last call. */
struct record_counts {
    uint64_t program_begun, thread_begun;
    unsigned samples;
};
struct record_counts record_router_take_counts(void);

#endif
