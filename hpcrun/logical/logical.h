/* Signal handler: everything here runs in the sampling handler, except where said otherwise.
 *
 * The logical unwinder: enters a physical path, as the agents see it (agent-query.h), into the
 * thread's tree. A path is a list of bichords. A frame that no agent has claimed is a bichord 1-1
 * of native code.
 *
 * A path may begin on another thread's stack. Example: a worker of OpenCilk has stolen a procedure,
 * whose caller's frame is on the stack of the thread that began the region. Then a note outside of
 * the path names that thread, so that hpcprof shows the path where that thread hangs.
 *
 * Like the physical unwinder it reuses the previous path: it searches nodes of the tree only from
 * the outermost frame on at which the path or an agent's answer differs. */
#ifndef HPCRUN_LOGICAL_LOGICAL_H
#define HPCRUN_LOGICAL_LOGICAL_H

#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/stack-owner.h"
#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/lnotes.h"

/* A thread's data for the logical unwinder. Zeroed memory is a thread without agents. */
struct logical {
    struct agent_query query;
    struct lnotes lnotes;
    struct stack_owner
        borrowed; /* the thread on whose stack the last path begins, if it is another one */
};

/* Enters the unwinder's path into the tree. Returns the node of its innermost note, or
 * CCT_NO_MEMORY. The outermost `unchanged` frames have the same nodes as in the previous path. */
uint32_t logical_enter(struct logical *logical, struct unwinder *u, struct cct *cct,
                       enum unwind_end end, uint32_t unchanged);

/* The placeholder of partial paths, below the root: also the node of a path without any frame. */
uint32_t logical_unknown(struct cct *cct);

/* Normal context, or with signals blocked: clears the data for another thread, or also frees it. */
void logical_clear(struct logical *logical);
void logical_free(struct logical *logical);

#endif
