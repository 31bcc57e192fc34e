/* The program's signals. hpcrun owns three kinds of signals and lets the program see none of it:
 *
 *  - the sampling signal: never blocked (but see signals_have_small_stack), always ours; a handler
 * that the program sets for it is kept and called for signals that are not samples;
 *  - SIGSEGV and SIGBUS: ours, for guarded reads (unwind/guard.h); other faults go to the
 *    program's handler, or have the effect that they would have had;
 *  - signals whose default is to end the process, as long as the program leaves that default: ours,
 *    to write what was measured; then the signal takes its effect.
 *
 * Handlers of the program are entered through a counter (thread_program_handlers), by which
 * restart/eintr.c knows whether a system call was interrupted for the program's sake (the rest of
 * that is in restart/restart.h). sigaction and its relatives (hooks/old-signals.c) report what the
 * program set. */
#ifndef HPCRUN_HOOKS_SIGNALS_H
#define HPCRUN_HOOKS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Normal context: takes over. */
void signals_init(int sampling_signal);

/* A real-time signal whose disposition is the default, from the highest down; 0 when all are taken.
 */
int signals_choose(void);

/* The address that the kernel has for SIGSEGV while it is ours. */
void *signals_fault_handler(void);

/* Normal context: the kernel has the program's own actions from now on, and no others. */
void signals_give_back(void);

/* Keep the actions as they are around fork, in the forking thread. */
void signals_lock_for_fork(void);
void signals_unlock_after_fork(void);

#endif
