/* Bodies of constructs that have no frame. Handler.
 *
 * A body that ends with a call of another function may jump there instead: the compiler makes a jump
 * of the call, and the body's frame is gone when that function runs. The function seems to be called
 * by the agent's trampoline:
 *
 *     source                            stack                 shown
 *     #pragma omp task                  sort.part.2           main
 *     sort(left, n);                    run_task                sort
 *                                       libgomp                   task @ sort.c:12
 *                                       ...                         sort.part.2
 *
 * But a link has the body's address (body-links.h). If a function that the trampoline has called is
 * not the one that begins there, the agent adds an l-note for the body. The note has no site, since
 * it is not known from where the body jumped.
 *
 * A compiler may also move seldom code of a body out of it, behind a symbol of its own. On the stack
 * that looks alike; hpcprof, which has symbols and lines, then shows the body once. */
#ifndef AGENTS_MISSING_BODIES_H
#define AGENTS_MISSING_BODIES_H

#include "agents/agent.h"

/* The address of the body if its trampoline has called another function, which contains pc; else 0.
 * `body` may be 0. */
uint64_t missing_body(const struct agent_host *host, const struct agent_cursor *cursor,
                      uint64_t body, uint64_t pc);

/* Normal context. A module is gone: what is known of its code is forgotten. */
void missing_bodies_forget(void);

#endif
