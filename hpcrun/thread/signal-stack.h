/* Signal handler: signal_stack_holds may be used there. The rest is called by the thread itself, in
 * normal context.
 *
 * The signal stack (sigaltstack) of a sampled thread. The kernel knows one for each thread: ours. So
 * neither a sample nor the kernel's frame for its signal takes any stack of the program, be that a
 * small thread's, a fiber's or its own signal stack, on which a handler may be running and may need
 * every byte. The program's signal stack is kept in the thread's record; hooks/signal-entry.h has its
 * handlers run there.
 *
 * Exceptions, where samples take the program's stack: without memory for ours, for a stack with
 * SS_AUTODISARM, since only the kernel knows when such a handler ends, and for one that is set by a
 * bare system call. */
#ifndef HPCRUN_THREAD_SIGNAL_STACK_H
#define HPCRUN_THREAD_SIGNAL_STACK_H

#include "hpcrun/thread/thread.h"

/* Size of ours, bytes, in addition to that of the program's: nested signals of the program arrive
 * there first. The need: HANDLER_STACK_BYTES and the frames of sample/handler.h, or what the end of a
 * process takes, 20 KB. */
#define SIGNAL_STACK_BYTES 65536u

/* Gives the kernel our stack, and keeps what it had. */
void signal_stack_begin(struct thread *thread);

/* Gives the kernel the program's stack. */
void signal_stack_end(struct thread *thread);

/* Frees the memory of a record. */
void signal_stack_free(struct thread *thread);

/* What the system call does for the program, if the stack pointer is `sp`: a negative errno on
 * failure. */
long signal_stack_change(struct thread *thread, const stack_t *stack, stack_t *old, uint64_t sp);

/* Whether the stack pointer is on a stack, as the kernel decides it. */
static inline bool signal_stack_holds(const stack_t *stack, uint64_t sp)
{
    uint64_t low = (uint64_t)(uintptr_t)stack->ss_sp;
    return sp > low && sp - low <= stack->ss_size;
}

#endif
