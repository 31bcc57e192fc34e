/* Signal handler: restart_mark, restart_mark_put_back and restart_before_handler run there.
 *
 * System calls that a sample interrupts, and handlers of the program.
 *
 * The first handler that the kernel enters decides what becomes of a waiting call. Ours has
 * SA_RESTART, so the kernel moves the pc back to the syscall instruction. It ends some calls all
 * the same; then the sample puts them back (ended-calls.h). If a signal of the program arrives
 * before the call has begun again (mostly while the sample is taken), its handler is entered at
 * that instruction, and the call would wait on. Without us, the handler would have ended the call
 * with EINTR: any handler if the sample has put the call back, one without SA_RESTART otherwise.
 *
 * So a sample marks a call that is about to restart. A handler of the program that is entered at
 * the mark first changes its own context as the kernel would have done: -EINTR as the result, the
 * pc behind the instruction. This does not depend on pending signals, so a signal that another
 * thread takes ends no call here. A handler with SA_RESTART removes the mark of a call that the
 * kernel restarts: then the call restarts also without us.
 *
 * A restarting call is recognized by rcx, in which the syscall instruction stores the address
 * behind itself. (FRED event delivery does not; then nothing is marked.) The same may be true
 * before a call has begun, in a loop whose last call used the same instruction. So only calls that
 * can end with EINTR are marked: not those that never wait, nor those that the kernel restarts
 * after any handler, such as fork and futex's priority-inheritance locks.
 *
 * A handler of the program that is entered at the exit of a call sets rcx to 0; no code relies on
 * it. So a sample that comes right after the handler does not take the handler's EINTR for its own. */
#ifndef HPCRUN_RESTART_RESTART_H
#define HPCRUN_RESTART_RESTART_H

#include "hpcrun/thread/thread.h"

/* Most bytes of stack between the frame of a hook and the call that it makes through libc. A signal
 * frame is larger, so calls made in a handler are not mistaken for the one that it interrupted. */
#define LIBC_STACK 1024

/* In a sample: marks the interrupted call if it is about to restart. */
void restart_mark(const ucontext_t *context);

/* Marks the call at whose instruction the registers are. `result`: what it returns if a handler of the
 * program ends it. */
void restart_mark_put_back(const greg_t *reg, greg_t result);

/* Before a handler of the program, with its context. `restarts`: it has SA_RESTART. */
void restart_before_handler(ucontext_t *context, bool restarts);

/* Set of signals whose handlers are ours, or call restart_before_handler. */
extern _Atomic uint64_t restart_known_handlers;

/* Whether a system call has just returned: the instruction has stored the address after itself in rcx,
 * and the flags in r11. */
static inline bool restart_is_at_exit(const greg_t *reg)
{
    return reg[REG_RCX] == reg[REG_RIP] && reg[REG_R11] == reg[REG_EFL];
}

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
