/* Signal handler: everything runs there.
 *
 * The ways into handlers. The kernel's signal stack of a sampled thread is ours (thread/signal-stack.h),
 * so there is where a handler with SA_ONSTACK begins. If it is the program's, its frame is moved to
 * where the kernel would have put it without us, and the handler runs there:
 *
 *     our stack                       the program's signal stack
 *     ┌─────────────────────┐         ┌───────────────────────┐ top, or below the interrupted frame,
 *     │ vector registers    │ ──────▶ │ vector registers      │ if that is on the stack already
 *     │ siginfo, ucontext   │ ──────▶ │ siginfo, ucontext     │
 *     │ return address      │ ──────▶ │ return address        │ ◀─ stack pointer of the handler
 *     └─────────────────────┘         └───────────────────────┘
 *
 * Meanwhile all signals are blocked: the next signal of the program would begin at the top of our
 * stack, over a frame that is still needed. The kernel may have built frames of several signals
 * before the first instruction runs, one on the other. Then the innermost moves all of them, from the
 * outermost on, and has the outer ones continue in their handlers. */
#ifndef HPCRUN_HOOKS_SIGNAL_ENTRY_H
#define HPCRUN_HOOKS_SIGNAL_ENTRY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Handlers for the kernel: of signals of the program with SA_ONSTACK, of those without, and of the
 * sampling signal and faults, which first go to signals_take. */
void signal_entry(int signal, siginfo_t *info, void *context)
    __attribute__((visibility("hidden")));
void signal_entry_plain(int signal, siginfo_t *info, void *context)
    __attribute__((visibility("hidden")));
void signal_entry_ours(int signal, siginfo_t *info, void *context)
    __attribute__((visibility("hidden")));

/* ---- what signals.c decides ---- */

/* A handler of the program. */
struct program_handler {
    void *function;
    bool is_on_stack; /* it asks for the signal stack */
    bool is_on_ours;  /* it takes our stack for its own (kernel-stack-users.h) */
};

/* Whether the signal is a sample or a fault that hpcrun takes, or ends the process; else the program's
 * handler follows. */
bool signals_take(int signal, siginfo_t *info, void *context)
    __attribute__((visibility("hidden")));

/* Runs before every handler of the program. Returns the handler. */
struct program_handler signals_enter_program(int signal, siginfo_t *info, void *context)
    __attribute__((visibility("hidden")));

/* The mask for a handler of the program. `now` is the kernel's, which is right but for the sampling
 * signal: that came with nearly all signals blocked. */
uint64_t signals_mask_of(int signal, const void *context, uint64_t now);

/* The program's signal stack is too small: ends the process as the kernel does. */
void signals_overflow(void);

#endif
