/* L-notes of OpenMP and oneTBB: the call path outside of a construct or task, from its creator's stack
 * or a copy of that (body-links.h). Handler.
 *
 * Each agent defines what these functions ask of its runtime: path_agent. */
#ifndef AGENTS_CREATOR_PATHS_H
#define AGENTS_CREATOR_PATHS_H

#include "agents/agent.h"

#include "agents/common/body-links.h"

/* cursor->state of an agent with such paths. Its unwind_begin sets the first field. */
struct path_state {
    uint64_t link;    /* address of the innermost link that the walk has not passed; 0: none */
    bool is_replaced; /* the path outside of the last bichord was replaced */
    struct agent_frame next; /* frame of the next l-note; pc 0: no more l-notes */
    uint64_t next_link;      /* address of the innermost link around that frame; 0: none */
    uint64_t context;        /* address of the context in whose copy the frame is; 0: on a stack */
    uint64_t
        body; /* a body without a frame: the l-note before that one (missing-bodies.h); 0: none */
    uint64_t last; /* pc of the last l-note that is a frame of this context; 0: none */
    bool is_first; /* the frame is the one that began the construct */
};

struct path_agent {
    const struct agent *agent;
    const struct agent_host *host;
    uint32_t tag; /* of claims on functions that call bodies of constructs; 0: they are the runtime's own */
    /* The link whose body this frame of such a function calls; 0: none at this instant. `first` is
     * the innermost link of its stack. */
    uint64_t (*link_in)(const struct agent_cursor *cursor, uint64_t first,
                        const struct agent_frame *frame);
};
extern struct path_agent path_agent __attribute__((visibility("hidden")));

/* The next l-note is the frame that began the construct of this context; none if it is 0. */
void creator_path_begin(struct agent_cursor *cursor, uint64_t context);

/* The body that is missing between a function that calls bodies and what that has called, at pc; 0: none is. If pc is
 * in claimed code, a body of a trampoline has jumped there. (Of a runtime's own functions, tag 0, it is not known.) */
uint64_t creator_path_missing(const struct agent_cursor *cursor, uint64_t body, uint64_t pc);

/* The next l-note outwards; frames in claimed code are not shown. False: there is none. */
bool creator_path_next(struct agent_cursor *cursor, struct agent_lnote *note);

/* The agents' step_pnote: all frames outside of a path that was replaced belong to its bichord. */
bool creator_path_has_frame(struct agent_cursor *cursor, const struct agent_frame *frame);

/* A field of the link at an address, in a function with `cursor`. */
#define LINK_FIELD(link, field)                                                                    \
    agent_u64(path_agent.host, cursor, (link) + offsetof(struct body_link, field))

#endif
