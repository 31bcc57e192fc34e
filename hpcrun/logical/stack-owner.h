/* Signal handler: everything here runs there.
 *
 * On which thread's stack an address is. Each thread has the bounds of its stack in its slot
 * (wait-slots.h) from its begin to its end. */
#ifndef HPCRUN_LOGICAL_STACK_OWNER_H
#define HPCRUN_LOGICAL_STACK_OWNER_H

#include "agents/agent.h"
#include "hpcrun/tree/lnotes.h"

struct stack_owner {
    const struct agent_slot *slot; /* of the thread; NULL: the stack is of no thread that has one */
    uint64_t thread;               /* its agent_slot.thread; 0: none */
};

/* A stack may lie within another one, if the program has given a thread an array of a function as
 * its stack: then the owner is the thread with the smaller one. */
struct stack_owner stack_owner_of(uint64_t address);

/* Whether the thread still has this stack. */
bool stack_owner_holds(const struct stack_owner *owner, uint64_t address);

/* The l-note outside of a path that begins on the stack of a thread (agent_slot.thread). It is no
 * address, so no other note is taken for the same. False: the thread is 0, or of the process that
 * forked this one. */
bool stack_owner_note(uint64_t thread, struct lnote *note);

#endif
