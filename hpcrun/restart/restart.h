/* Signal handler: everything here runs there.
 *
 * System calls that a sample interrupts and the kernel starts again.
 *
 * What becomes of a waiting call is decided by the first handler that the kernel enters. For ours,
 * installed with SA_RESTART, it moves the pc back to the syscall instruction. A signal of the
 * program's that arrives from then on until the call has begun again (while the sample is taken,
 * most of that time) is handled at that instruction, and the call goes on waiting; without us a
 * handler without SA_RESTART would have ended it with EINTR.
 *
 * So a sample leaves a mark where it found a call that is to start again, and a handler of the
 * program that is entered at the mark first does to its own context what the kernel would have
 * done: -EINTR as the result, the pc behind the instruction. That asks nothing about signals that
 * are pending: one that another thread takes ends no call here. A handler with SA_RESTART takes the
 * mark away, as then the call was to be started again without us, too.
 *
 * A call that starts again is known by rcx: the instruction puts the address behind itself there.
 * (Not so with FRED event delivery; there nothing is marked.) A sample may find the same before a
 * call was begun, when the last call of the same instruction has left rcx so, as in a loop. So only
 * calls that can end with EINTR are marked: neither those that never wait, nor those that the
 * kernel starts again whatever the handler is, such as fork and futex's locks with priorities. */
#ifndef HPCRUN_RESTART_RESTART_H
#define HPCRUN_RESTART_RESTART_H

#include "hpcrun/thread/thread.h"

/* In a sample: marks the interrupted call if it is to start again. */
void restart_mark(const ucontext_t *context);

/* Before a handler of the program's, with its context. `restarts`: it has SA_RESTART. */
void restart_before_handler(ucontext_t *context, bool restarts);

/* Normal context: the calling function goes on with a call that a sample cut short and that has
 * done a part; `frame` is its own frame address. Until it is set to NULL any handler of the
 * program's ends a call made directly from there, as it would have ended the whole: with the part.
 */
void restart_has_part(void *frame);

/* The handlers that had run when a call began. */
struct interruptions {
    unsigned samples, program;
};

static inline struct interruptions interruptions_now(void)
{
    return (struct interruptions){thread_samples_handled, thread_program_handlers};
}

/* Whether a call that began then was cut short by our samples alone; moves on to the next attempt.
 */
static inline bool only_ours(bool interrupted, struct interruptions *before)
{
    struct interruptions now = interruptions_now();
    bool ours = interrupted && now.samples != before->samples && now.program == before->program;
    *before = now;
    return ours;
}

#endif
