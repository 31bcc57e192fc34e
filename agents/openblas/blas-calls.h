/* Calls of OpenBLAS that its own threads work for.
 *
 * A routine that runs on several threads puts parts of the work into a queue, and calls exec_blas, which returns when all
 * of them are done: threads of the library do some, the caller the others. Or it calls exec_blas_async, does a part of
 * its own, and then calls exec_blas_async_wait. The library calls these functions by way of its procedure linkage table,
 * so that the agent interposes them (blas-functions.h). While such a call lasts, the caller's slot leads to its frame. */
#ifndef AGENTS_OPENBLAS_BLAS_CALLS_H
#define AGENTS_OPENBLAS_BLAS_CALLS_H

#include "agents/agent.h"

/* The one call that is going on, the address of a struct creation_context whose `body` is exec_blas if that was called.
 * 0: there is none, or several threads have one. Handler. */
uint64_t blas_only_call(const struct agent_slots *slots);

#endif
