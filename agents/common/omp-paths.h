/* L-notes of OpenMP: the call path outside of a construct, from its creator's stack or a copy of that
 * (omp-links.h). Handler.
 *
 * Each agent for OpenMP defines what these functions ask of its runtime: omp_runtime. */
#ifndef AGENTS_OMP_PATHS_H
#define AGENTS_OMP_PATHS_H

#include "agents/agent.h"

#include "agents/common/omp-links.h"

/* The first words of cursor->state. */
enum {
    PC, /* pc, sp and bp of the next l-note's frame; pc 0: no more l-notes */
    SP,
    BP,
    NOTE_LINK, /* address of the innermost link around that frame; 0: none */
    CONTEXT,   /* address of the context in whose copy the frame is; 0: on a stack */
    OMP_PATH_WORDS,
};

struct omp_runtime {
    const struct agent *agent;
    const struct agent_host *host;
    uint32_t tag; /* of claims on functions that call bodies of constructs */
    /* The link whose body this frame of such a function calls; 0: none at this instant. `first` is
     * the innermost link of its stack. */
    uint64_t (*link_in)(const struct agent_cursor *cursor, uint64_t first,
                        const struct agent_frame *frame);
};
extern struct omp_runtime omp_runtime __attribute__((visibility("hidden")));

/* The next l-note is the frame that began the construct of this context; none if it is 0. */
void omp_path_begin(struct agent_cursor *cursor, uint64_t context);

/* The next l-note outwards; frames in claimed code are not shown. False: there is none. */
bool omp_path_next(struct agent_cursor *cursor, struct agent_lnote *note);

/* The agents' step_pnote: all frames outside of a path that was replaced belong to its bichord. */
bool omp_path_has_frame(struct agent_cursor *cursor, const struct agent_frame *frame);

/* A field of the link at an address, in a function with `cursor`. */
#define LINK_FIELD(link, field)                                                                    \
    agent_u64(omp_runtime.host, cursor, (link) + offsetof(struct omp_link, field))

#endif
