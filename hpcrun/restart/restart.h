/* Signal handler: restart_mark and restart_before_handler run there.
 *
 * System calls that a sample interrupts and the kernel restarts.
 *
 * The first handler that the kernel enters decides what happens to a waiting call. Ours has
 * SA_RESTART, so the kernel moves the pc back to the syscall instruction. If a signal of the
 * program arrives before the call has begun again (mostly while the sample is taken), its handler
 * is entered at that instruction, and the call waits on. Without us, a handler without SA_RESTART
 * would have ended the call with EINTR.
 *
 * So a sample marks a call that is about to restart. A handler of the program that is entered at
 * the mark first changes its own context as the kernel would have done: -EINTR as the result, the
 * pc behind the instruction. This does not depend on pending signals, so a signal that another
 * thread takes ends no call here. A handler with SA_RESTART removes the mark: then the call
 * restarts also without us.
 *
 * A restarting call is recognized by rcx, in which the syscall instruction stores the address
 * behind itself. (FRED event delivery does not; then nothing is marked.) The same may be true
 * before a call has begun, in a loop whose last call used the same instruction. So only calls that
 * can end with EINTR are marked: not those that never wait, nor those that the kernel restarts
 * after any handler, such as fork and futex's priority-inheritance locks. */
#ifndef HPCRUN_RESTART_RESTART_H
#define HPCRUN_RESTART_RESTART_H

#include "hpcrun/thread/thread.h"

/* In a sample: marks the interrupted call if it is about to restart. */
void restart_mark(const ucontext_t *context);

/* Before a handler of the program, with its context. `restarts`: it has SA_RESTART. */
void restart_before_handler(ucontext_t *context, bool restarts);

/* Normal context. The calling function is about to continue a call that a sample cut short after a
 * part of its work; `frame` is the function's own frame address. Until this is reset by NULL, any
 * handler of the program ends a call made directly from there, so that the whole ends with the
 * part, as without us. */
void restart_has_part(void *frame);

/* ---- who interrupted a call (normal context) ----
 *
 * A call that was cut short is continued if our handler ran during it and none of the program's
 * did. */

/* Numbers of handlers that this thread had run when a call began. */
struct interruptions {
    unsigned samples, program;
};

static inline struct interruptions interruptions_now(void)
{
    return (struct interruptions){thread_samples_handled, thread_program_handlers};
}

/* Whether a call that began at `before` was cut short by our samples alone. Updates *before for the
 * next attempt. */
static inline bool only_ours(bool interrupted, struct interruptions *before)
{
    struct interruptions now = interruptions_now();
    bool ours = interrupted && now.samples != before->samples && now.program == before->program;
    *before = now;
    return ours;
}

#endif
