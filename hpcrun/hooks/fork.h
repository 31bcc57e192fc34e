/* Normal context. Forks of every kind: what happens around one, and which process a hook runs in. */
#ifndef HPCRUN_HOOKS_FORK_H
#define HPCRUN_HOOKS_FORK_H

#include <stdbool.h>

/* Around a fork that a hook makes: before it; after it, in the parent and in the child. */
void fork_begin(void);
void fork_end_in_parent(void);
void fork_end_in_child(void);

/* Whether the calling process is measured. True also in the child of a fork by a bare system call,
 * past all hooks: it becomes a process of its own at the first such question. False in a child that
 * shares its parent's memory, as that of a vfork: it must not change our data. */
bool fork_is_measured(void);

/* The process ends by a system call: writes everything, if it is measured. */
void fork_end_process(void);

#endif
