/* Normal context: enters the calling thread's own path into its tree.
 *
 *     ucontext_t context;
 *     uint64_t mask;
 *     if (!own_path_begin(self, &mask))
 *         return;
 *     if (getcontext(&context) == 0)
 *         node = own_path_enter(self, &context);
 *     own_path_end(self, mask); */
#ifndef HPCRUN_SAMPLE_OWN_PATH_H
#define HPCRUN_SAMPLE_OWN_PATH_H

#include "hpcrun/thread/thread.h"

#include <ucontext.h>

/* Blocks samples while this thread unwinds. Faults stay unblocked, for guarded reads. Sets what own_path_end needs. False,
 * with nothing to end, if nothing may be entered:
 *
 *  - hpcrun has withdrawn (process_withdraw): the program's filter may end it for a system call of ours;
 *  - the process is a child of the measured one, with a copy of its memory but not of the tree, or with the same memory;
 *  - the process ends: another thread may be writing this one's data. */
bool own_path_begin(struct thread *self, uint64_t *mask);
void own_path_end(struct thread *self, uint64_t mask);

/* Enters the path from `context`, of the calling function. Returns its node; 0 if it is not
 * complete, in a thread that a runtime uses for itself, or without memory. */
uint32_t own_path_enter(struct thread *self, const ucontext_t *context);

#endif
