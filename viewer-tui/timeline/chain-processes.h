/* The processes of a run, for the critical path (longest-chain.h). */
#ifndef VIEWER_CHAIN_PROCESSES_H
#define VIEWER_CHAIN_PROCESSES_H

#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/timeline/longest-chain.h"

/* The end of a process of run.json, seconds of the time line; -1: unknown, or in no time line. */
double process_end(const json_t *process);

struct chain_processes chain_processes_of(const struct timeline *timeline, const struct threads *threads);
void chain_processes_free(struct chain_processes *processes);

#endif
