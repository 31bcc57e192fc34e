/* A runtime that was linked into a program: where its code is. Normal context.
 *
 * It is told by the names of the functions that its library exports, which the agent lists. Between
 * two of them that follow each other, no other function of the program that is visible outside its
 * source file lying between, all is the runtime's: linkers keep the code of a source file together,
 * and an archive's files. Else only that one function is. */
#ifndef AGENTS_COMMON_LINKED_RUNTIME_H
#define AGENTS_COMMON_LINKED_RUNTIME_H

#include "agents/agent.h"

/* The ranges of the module's code that belong to the runtime, ascending, each with `mark`; the
 * caller frees. NULL when it has none of the functions, or when there is no memory. The last of
 * `functions` is NULL. */
struct agent_claim *linked_runtime(const struct agent_module *module, const char *const *functions,
                                   uint32_t mark, size_t *count);

#endif
