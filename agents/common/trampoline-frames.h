/* Frames of an agent that calls the bodies of constructs: its functions of kind TRAMPOLINE, each with
 * a link (body-links.h) in its frame. Bichords, innermost frame first:
 *
 *     frames                                          bichord
 *     code of the program                             native
 *     the runtime, a wrapper of the agent             1-0, or M-0 with functions of libc
 *     a trampoline                                    1-M: the path to the construct, from its
 *                                                     creator's stack or from a copy of that
 *     the runtime ... the thread's start              M-0
 *
 * In a construct that its creator's thread runs where it was created, the frames outside of the
 * trampoline are those that began the construct: these bichords are 1-0. If the construct's body has no
 * frame (missing-bodies.h), it is the trampoline's innermost l-note: such bichords are 1-1 or 1-M.
 *
 * A thread that takes a task outside of all constructs, as threads of a pool do, has no trampoline. It
 * may be shown in another context: unwind_begin sets last_context.
 * Handler, but for one function. */
#ifndef AGENTS_TRAMPOLINE_FRAMES_H
#define AGENTS_TRAMPOLINE_FRAMES_H

#include "agents/common/creator-paths.h"

/* Tags of claims: the runtime and the agent's other code; the agent's trampolines. */
enum { CLAIM_RUNTIME, CLAIM_TRAMPOLINES };

/* cursor->state */
struct trampoline_state {
    struct path_state path;
    uint64_t
        last_context; /* of a thread whose stack has no frame with a context: address of the one
                                in which it is shown; 0: none */
    bool innermost_was_seen; /* its innermost frame, which is the runtime's and not shown there */
};

/* Normal context. If the module is this agent: claims its code, and returns true. */
bool trampolines_claim(const struct agent_module *module);

/* path_agent.link_in */
uint64_t trampoline_link_in(const struct agent_cursor *cursor, uint64_t first,
                            const struct agent_frame *frame);

/* The agent's step_bichord. */
enum agent_association trampoline_step_bichord(struct agent_cursor *cursor,
                                               const struct agent_frame *frame);

#endif
