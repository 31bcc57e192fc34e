/* Signal handler: everything here may be used there.
 *
 * What is known of a thread's system calls. It lies in the thread's record, not in static TLS, of which
 * there is little. */
#ifndef HPCRUN_RESTART_THREAD_CALLS_H
#define HPCRUN_RESTART_THREAD_CALLS_H

#include "hpcrun/restart/interruptible-calls.h"
#include "hpcrun/thread/thread.h"

#include <linux/io_uring.h>
#include <signal.h>
#include <time.h>

/* A call that goes on for the rest of its time (resumed-calls.h). The assembly there uses the layout of
 * the first fields. */
struct resumed_call {
    uint64_t rdi, rsi, rdx, r10, r8, r9, r12, sp, pc; /* of the program, after the call */
    uint64_t done;            /* result of a part before, to be added; 0: none */
    uint64_t sets_mask, mask; /* the program's signal mask is to be set after the call */
    uint64_t result, in_use;
    uint64_t stores;      /* where the program wants to know the rest of the time; 0: nowhere */
    struct timespec time; /* what is left; for select, a struct timeval */
    uint64_t at_place;    /* the address after the program's instruction; 0: it is made at ours */
    const struct interruptible_call *call;
    uint64_t used;     /* counts uses: the least was used longest ago */
    clockid_t clock;   /* of the deadline */
    uint64_t deadline; /* ns; 0: none */
    struct io_uring_getevents_arg extended;
};

/* When a function of libc was called that makes a system call with a timeout. If it ends by longjmp,
 * this is recognized as stale. */
struct call_start {
    uintptr_t frame; /* of the hook */
    uint64_t caller; /* the hook's return address, which is above its frame */
    uint64_t at;     /* CLOCK_MONOTONIC, ns */
};

/* Arguments of a call that the program makes by syscall(), whose code does not show the number. */
struct noted_syscall {
    uint64_t sp; /* when the system call is made */
    long number, a, b, c;
};

/* The call that the last sample found about to restart, or put back. */
struct call_mark {
    greg_t pc, sp;
    greg_t result; /* what it returns if a handler of the program ends it */
    bool put_back;
};

#define RESUMED 8

struct thread_calls {
    struct call_start last_start;
    struct noted_syscall noted;
    struct call_mark mark;
    uint64_t uses;
    struct resumed_call resumed[RESUMED];
};

_Static_assert(sizeof(struct thread_calls) <= sizeof(((struct thread *)0)->calls),
               "room in a record");

/* Any context. NULL: the calling thread has no record, so that it has no samples. */
static inline struct thread_calls *own_calls(void)
{
    return thread_self ? (struct thread_calls *)thread_self->calls : NULL;
}

#endif
