/* Signal handler: ended_call_goes_on runs there.
 *
 * System calls that a sample has ended. They go on as if no signal had come.
 *
 * The kernel ends some calls with -EINTR after any handler: poll, nanosleep, io_uring_enter, ...
 * (interruptible-calls.h). If several signals are pending, it makes a frame for one after the other,
 * and only the first has the pc of the call; the others interrupt the handler before. So a sample
 * that finds a call at its exit, with -EINTR, was the first, and it alone has ended the call.
 *
 *  1. The number of the call comes from the code (call-number.h), or from the hook on syscall(): rax
 *     has the result now.
 *  2. The context is changed: number in rax, pc at the syscall instruction, as the kernel does it
 *     for calls that it restarts. A call that must not be made as before, since a part of its time
 *     is over, goes on elsewhere (resumed-calls.h). So does a call with a signal mask that blocks
 *     more than the thread's own: while the thread comes back to the call, signals that only the
 *     call blocks must stay blocked.
 *  3. The call is marked, so that handlers of the program end it (restart.h). Handlers that are not
 *     entered through us (libc's own, and those that the program sets by system calls of its own)
 *     don't know the mark: if a signal is pending for one, EINTR stays.
 *
 * The rest of the time: the kernel stores it, for some calls (ppoll, select; nanosleep, if the program
 * wants to know it). Else it counts from the begin of the call. That is known for functions of
 * libc that are hooked (call_begins). Other calls count from the first sample: they end up to a
 * period late, never early. Further samples don't add to that.
 *
 * Two calls may also end without an error: io_uring_enter returns the number of submitted requests,
 * or 0 if some of the completions have come; io_getevents returns the number of events that have
 * come. They are made again for the rest. If the wait was over, it is over at once, since the program
 * has not taken the completions yet. (Only another thread with the same ring could, at that
 * instant.)
 *
 * With FRED event delivery, the instruction does not store into rcx and r11. Then -EINTR after a
 * syscall instruction is taken for a sample's. */
#ifndef HPCRUN_RESTART_ENDED_CALLS_H
#define HPCRUN_RESTART_ENDED_CALLS_H

#include "hpcrun/restart/thread-calls.h"

/* At the end of a sample's handler, in its thread: puts the interrupted call back if the sample has
 * ended it. Returns whether the thread must be tested for cancellation (cancellation.h) before it
 * goes on. */
bool ended_call_goes_on(struct thread *thread, ucontext_t *context);

/* ---- normal context ---- */

/* Returns the value before, which call_ends restores. */
struct call_start call_begins(void *frame, void *caller);
void call_ends(struct call_start before);

/* The thread makes a call by syscall(). */
void note_syscall(const struct noted_syscall *call);

#endif
