/* Normal context: enters the calling thread's own path into its tree.
 *
 *     ucontext_t context;
 *     uint64_t mask = own_path_begin(self);
 *     if (!atomic_load(&sampling.stopping) && getcontext(&context) == 0)
 *         node = own_path_enter(self, &context);
 *     own_path_end(self, mask); */
#ifndef HPCRUN_SAMPLE_OWN_PATH_H
#define HPCRUN_SAMPLE_OWN_PATH_H

#include "hpcrun/thread/thread.h"

#include <ucontext.h>

/* Blocks samples while this thread unwinds. Faults stay unblocked, for guarded reads. Returns what
 * own_path_end needs. Once hpcrun has withdrawn (process_withdraw), sampling.stopping stays set and both do nothing: the
 * program's filter may end it for a system call. */
uint64_t own_path_begin(struct thread *self);
void own_path_end(struct thread *self, uint64_t mask);

/* Enters the path from `context`, of the calling function. Returns its node; 0 if it is not
 * complete, in a thread that a runtime uses for itself, or without memory. */
uint32_t own_path_enter(struct thread *self, const ucontext_t *context);

#endif
