/* Signal handler: everything here may be used there.
 *
 * A mark in memory that the kernel wipes in the child of a fork, also of one that a bare system call
 * makes. A child that shares its parent's memory (vfork) sees the mark. */
#ifndef HPCRUN_BASE_FORK_MARK_H
#define HPCRUN_BASE_FORK_MARK_H

#include <stdbool.h>

/* Sets the mark in this process. Kernels before 4.14 have no such memory: then it is never wiped. */
void fork_mark_set(void);

/* Whether the process is the child of one that has set the mark, with memory of its own. */
bool fork_mark_is_wiped(void);

#endif
