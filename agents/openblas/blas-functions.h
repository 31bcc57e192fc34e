/* The functions exec_blas, exec_blas_async and exec_blas_async_wait, which the agent exports in each measured process.
 *
 * Not only OpenBLAS may have functions with these names, and another one's have other parameters. So what the agent
 * exports is a jump, with all registers as they were: to the agent's own function (blas-calls.c) if the caller means
 * OpenBLAS's, otherwise to the function that the caller means. Normal context. */
#ifndef AGENTS_OPENBLAS_BLAS_FUNCTIONS_H
#define AGENTS_OPENBLAS_BLAS_FUNCTIONS_H

#include "agents/common/runtime-copies.h"

enum blas_function { EXEC_BLAS, EXEC_BLAS_ASYNC, EXEC_BLAS_ASYNC_WAIT, BLAS_FUNCTIONS };

/* The first parameter is a count, the second one the address of a queue; exec_blas has no other one. */
typedef long blas_code(long, void *);

/* omp_in_parallel of an OpenMP runtime. */
typedef int parallel_code(void);

/* The agent's own functions. */
blas_code call_exec_blas, call_exec_blas_async, call_exec_blas_async_wait;

/* The function that a caller means, by its return address. */
blas_code *blas_function_for(enum blas_function which, uint64_t caller);

/* What a caller of omp_in_parallel would call without the agent; NULL: nothing. If the caller is OpenBLAS, it is
 * exec_blas or a part that the compiler has split off. */
parallel_code *blas_in_parallel_for(uint64_t caller, bool *is_openblas);

/* Learns about a module that may be OpenBLAS. */
void blas_add_module(uint64_t address);

/* The copy of OpenBLAS whose code has this address; NULL: none. */
const struct runtime_copy *blas_copy_at(uint64_t address);

/* A module was unloaded. */
void blas_forget_module(uint64_t start, uint64_t end);

#endif
