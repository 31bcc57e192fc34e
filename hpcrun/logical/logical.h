/* Signal handler: everything here runs in the sampling handler, except where said otherwise.
 *
 * The logical unwinder: what agents make of a physical path (agents/agent.h), entered into the
 * thread's tree. A path is a list of bichords; frames that no agent has claimed are bichords 1-1 of
 * native code, made by the identity agent, which is the absence of another.
 *
 * Like the physical unwinder it tells a path from the one before: a node of the tree is found by
 * search only from the first frame on, seen from outside, at which the path or what an agent said
 * of it differs. Agents are asked at every sample: what the heap says of a frame may change while
 * the frame does not. */
#ifndef HPCRUN_LOGICAL_LOGICAL_H
#define HPCRUN_LOGICAL_LOGICAL_H

#include "hpcrun/logical/agents.h"
#include "hpcrun/logical/lnotes.h"

struct thread;
enum unwind_end;

/* A bichord that is not a native frame. Its p-notes are neighbours in the path. */
struct bichord {
    uint32_t first, last;  /* indices in the path of its outermost and innermost p-note */
    uint32_t lnotes, size; /* its l-notes in `lnotes` of the path, innermost first */
    enum agent_association association;
};

/* The bichords of one path, innermost first. */
struct bichords {
    struct bichord *at;
    struct lnote *lnotes;
    uint32_t count, lnote_count;
};

/* What the logical unwinder keeps of a thread. Zeroed memory is a thread that met no agent. */
struct logical {
    struct agent_cursor cursor[MAX_AGENTS];
    struct bichords last, now;
    struct lnotes lnotes;
};

/* What the thread is to the runtimes at this sample, and how their workers fare. */
struct stance {
    enum agent_thread class;
    unsigned agent;             /* whose worker it is, if it is one */
    struct agent_counts counts; /* as that agent gave them */
};

/* Begins the agents' unwinds of the calling thread, after the physical one, and asks what the
 * thread is to them. */
struct stance logical_stance(struct thread *thread);

/* Enters the unwinder's path into the thread's tree; the node of its innermost note, or
 * CCT_NO_MEMORY. */
uint32_t logical_enter(struct thread *thread, enum unwind_end end);

/* Normal context, in the thread, signals blocked: tells the agents that it begins, or ends. */
void logical_thread_begin(struct thread *thread);
void logical_thread_end(struct thread *thread);

/* Normal context, or with signals blocked: forgets all that concerns a thread's samples. */
void logical_clear(struct logical *logical);
/* The same, and gives memory back. */
void logical_free(struct logical *logical);

#endif
