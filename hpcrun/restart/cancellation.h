/* Signal handler, at its very end.
 *
 * glibc from 2.41 on cancels a thread in a system call by a signal. If the signal's handler, which is
 * not entered through us, finds the thread at libc's system call instruction, it cancels the thread.
 * If the call has ended, it relies on libc's test after an EINTR. A sample that comes right after
 * that handler finds a call with EINTR and puts it back: the thread would wait on. So before the
 * thread goes back to that instruction it tests itself whether it is canceled. A request that comes
 * later finds it at the instruction, since all signals are blocked until the handler has returned.
 *
 * This calls libc in the handler, as libc's own handler does: the thread is in libc's system call,
 * in which it may be canceled. */
#ifndef HPCRUN_RESTART_CANCELLATION_H
#define HPCRUN_RESTART_CANCELLATION_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Whether a call that waits, and ends at `pc`, is made by libc's function for such calls: "syscall; ret".
 * No other system call of libc that waits is followed by a return. */
bool is_cancelable(uint64_t pc);

/* Does not return if the thread is canceled: its cleanup handlers run with the mask of the context. */
void cancel_if_requested(const ucontext_t *context);

#endif
