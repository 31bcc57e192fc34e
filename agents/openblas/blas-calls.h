/* Calls of OpenBLAS that its own threads work for.
 *
 * A routine that runs on several threads puts parts of the work into a queue, and calls exec_blas, which returns when
 * all of them are done: threads of the library do some, the caller the others. Or it calls exec_blas_async, does a part
 * of its own, and then calls exec_blas_async_wait. A thread's slot leads to the frame of its call:
 *
 *     Debian's, conda's      The library calls these functions by way of its procedure linkage table, so that the
 *                            agent interposes them (blas-functions.h): at the begin and at the end.
 *     PyPI's (numpy, scipy)  They call each other directly, but exec_blas also calls omp_in_parallel, if there is
 *                            one: the agent exports it. So only the begin is known. A call has ended when the
 *                            thread begins another one, or is seen outside of its frame: at a sample, or in a
 *                            function that waits. */
#ifndef AGENTS_OPENBLAS_BLAS_CALLS_H
#define AGENTS_OPENBLAS_BLAS_CALLS_H

#include "agents/agent.h"

/* The one call that is going on in the library with this code, the address of a struct creation_context whose
 * `body` is exec_blas if a function of the agent is around that. 0: there is none, or several threads may have one.
 * Handler. */
uint64_t blas_only_call(const struct agent_slots *slots, uint64_t start, uint64_t end);

/* Forgets the sampled thread's call if that has ended. Handler. */
void blas_forget_left_call(const struct agent_cursor *cursor);

#endif
