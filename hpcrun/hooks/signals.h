/* The program's signals. hpcrun handles three kinds of signals, invisibly to the program:
 *
 *  - the sampling signal: always ours, and never blocked. A handler that the program sets for it is
 *    called for signals that are not samples;
 *  - SIGSEGV and SIGBUS: ours, for guarded reads (unwind/memory.h). Other faults go to the
 * program's handler, or have their default effect;
 *  - signals whose default is to end the process, while the program leaves that default: our
 * handler writes what was measured; then the signal takes its default effect.
 *
 * Handlers of the program are entered through functions of ours (signal-entry.h), which count them
 * (thread_program_handlers). By this restart/ knows whether a handler of the program interrupted a
 * system call. sigaction and its relatives (hooks/old-signals.c) report the actions that the
 * program set. */
#ifndef HPCRUN_HOOKS_SIGNALS_H
#define HPCRUN_HOOKS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Normal context: installs our handlers. */
void signals_init(int sampling_signal);

/* The highest real-time signal whose action is the default; 0 if there is none. */
int signals_choose(void);

/* The address of our handler of SIGSEGV. */
void *signals_fault_handler(void);

/* Normal context: installs the program's own actions, and none of ours. */
void signals_give_back(void);

/* Around a fork, in the forking thread: no other thread may be changing actions. */
void signals_lock_for_fork(void);
void signals_unlock_after_fork(void);
bool signals_can_lock(void); /* as threads_can_lock of thread/live-threads.h */

#endif
