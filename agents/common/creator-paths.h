/* L-notes of OpenMP and oneTBB: the call path outside of a construct or task, from its creator's stack
 * or a copy of that (body-links.h). Handler.
 *
 * Each agent defines what these functions ask of its runtime: path_agent. */
#ifndef AGENTS_CREATOR_PATHS_H
#define AGENTS_CREATOR_PATHS_H

#include "agents/agent.h"

#include "agents/common/body-links.h"

/* The first words of cursor->state. */
enum {
    PC, /* pc, sp and bp of the next l-note's frame; pc 0: no more l-notes */
    SP,
    BP,
    NOTE_LINK, /* address of the innermost link around that frame; 0: none */
    CONTEXT,   /* address of the context in whose copy the frame is; 0: on a stack */
    BODY,      /* a body without a frame: the l-note before that one (missing-bodies.h); 0: none */
    LAST,      /* pc of the last l-note that is a frame of this context; 0: none */
    CREATOR_PATH_WORDS,
};

struct path_agent {
    const struct agent *agent;
    const struct agent_host *host;
    uint32_t tag; /* of claims on functions that call bodies of constructs */
    /* The link whose body this frame of such a function calls; 0: none at this instant. `first` is
     * the innermost link of its stack. */
    uint64_t (*link_in)(const struct agent_cursor *cursor, uint64_t first,
                        const struct agent_frame *frame);
};
extern struct path_agent path_agent __attribute__((visibility("hidden")));

/* The next l-note is the frame that began the construct of this context; none if it is 0. */
void creator_path_begin(struct agent_cursor *cursor, uint64_t context);

/* The body that is missing between a trampoline and what it has called, at pc; 0: none is, or pc is in
 * claimed code. */
uint64_t creator_path_missing(const struct agent_cursor *cursor, uint64_t body, uint64_t pc);

/* The next l-note outwards; frames in claimed code are not shown. False: there is none. */
bool creator_path_next(struct agent_cursor *cursor, struct agent_lnote *note);

/* The agents' step_pnote: all frames outside of a path that was replaced belong to its bichord. */
bool creator_path_has_frame(struct agent_cursor *cursor, const struct agent_frame *frame);

/* A field of the link at an address, in a function with `cursor`. */
#define LINK_FIELD(link, field)                                                                    \
    agent_u64(path_agent.host, cursor, (link) + offsetof(struct body_link, field))

#endif
