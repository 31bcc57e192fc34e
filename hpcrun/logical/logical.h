/* Signal handler: everything here runs in the sampling handler, except where said otherwise.
 *
 * The logical unwinder's results in the tree: what agents make of a physical path (agents/agent.h,
 * consult.h), entered into the thread's tree. A path is a list of bichords; frames that no agent
 * has claimed are bichords 1-1 of native code, made by the identity agent, which is the absence of
 * another.
 *
 * Like the physical unwinder this tells a path from the one before: a node of the tree is found by
 * search only from the first frame on, seen from outside, at which the path or what an agent said
 * of it differs. */
#ifndef HPCRUN_LOGICAL_LOGICAL_H
#define HPCRUN_LOGICAL_LOGICAL_H

#include "hpcrun/logical/agent-query.h"
#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/lnotes.h"

/* What the logical unwinder keeps of a thread. Zeroed memory is a thread that met no agent. */
struct logical {
    struct consult consult;
    struct lnotes lnotes;
};

/* Enters the unwinder's path into the tree; the node of its innermost note, or CCT_NO_MEMORY. The
 * outermost `unchanged` frames have the nodes that they had in the previous path. */
uint32_t logical_enter(struct logical *logical, struct unwinder *u, struct cct *cct,
                       enum unwind_end end, uint32_t unchanged);

/* The placeholder of partial paths, below the root: for a path of which nothing is known. */
uint32_t logical_unknown(struct cct *cct);

/* Normal context, or with signals blocked: forgets all that concerns a thread's samples. */
void logical_clear(struct logical *logical);
/* The same, and gives memory back. */
void logical_free(struct logical *logical);

#endif
