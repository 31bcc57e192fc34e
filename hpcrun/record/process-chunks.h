/* Signal handler: everything here may be used there.
 *
 * The chunks that describe the process: identity, events, metrics, modules, agents, clock. */
#ifndef HPCRUN_RECORD_PROCESS_CHUNKS_H
#define HPCRUN_RECORD_PROCESS_CHUNKS_H

#include "hpcrun/record/chunk-writer.h"

/* PROCESS, EVENTS and METRICS, at the beginning of the file. `exec_sequence`: which exec of the
 * process this image is. */
bool process_chunks_write(uint32_t exec_sequence);

/* MODULES: the instances that were added since the last call. */
bool process_chunks_write_modules(struct chunk *chunk);

/* AGENTS, WORKERS and REFUSALS: what was added since the last call. */
bool process_chunks_write_agents(struct chunk *chunk);

/* Whether there may be something new for the two functions above. */
bool process_chunks_are_pending(void);

/* Writes it. If that fails, it is pending again at the next call with `retry`. */
void process_chunks_write_pending(bool retry);

/* In the child of a fork, whose file has none of these chunks yet. */
void process_chunks_clear(void);

/* METRIC STATES: how well a metric of the process is known. `why` NULL: exactly, but for `error`. */
struct known_metric {
    unsigned id;
    enum recorded_state state;
    const char *why;
    uint64_t error; /* in the unit of the metric's values */
};
bool process_chunks_write_states(struct chunk *chunk, const struct known_metric *metrics,
                                 unsigned count);

/* PROCESS CLOCK. */
bool process_chunks_write_clock(struct chunk *chunk, enum process_state state, int detail);

#endif
