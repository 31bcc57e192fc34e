/* Signal handler: everything here may run there; no state.
 *
 * The table of the system calls that end with EINTR when a handler runs, and what putting one of
 * them back needs: where it has its timeout and its signal mask. From signal(7) and the kernel's
 * source (6.18), by what the calls return inside the kernel:
 *
 *   ERESTARTSYS          the kernel restarts the call after a handler with SA_RESTART
 *   ERESTARTNOHAND,      it does so only if no handler runs at all: after one the call has
 *   ERESTART_RESTARTBLOCK  returned -EINTR
 *   EINTR                never restarted; on sockets, the ERESTARTSYS of a call with a timeout is
 *                          turned into this. A file system in user space (FUSE) hears of the signal,
 *                          and may end any call on its files so
 *
 * A call that fails so has done nothing, and may be made again. Not in the table, since this is
 * not true of it: close (the descriptor is gone). */
#ifndef HPCRUN_RESTART_INTERRUPTIBLE_CALLS_H
#define HPCRUN_RESTART_INTERRUPTIBLE_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* What bounds the time that a call waits. */
enum call_time {
    TIME_UNBOUNDED,   /* nothing, or a time of day, which stays the same */
    TIME_MS,          /* milliseconds in a register; negative: unbounded */
    TIME_SPEC,        /* pointer to a struct timespec; NULL: unbounded */
    TIME_SLEEP,       /* the same; a second pointer, to the rest, which the kernel stores */
    TIME_COUNTED,     /* pointer to a time; the kernel stores the rest there */
    TIME_EXTENDED,    /* in the extended argument of io_uring_enter */
    TIME_OF_RECEIVER, /* SO_RCVTIMEO of the socket that is the first argument */
    TIME_OF_SENDER,   /* SO_SNDTIMEO */
};

/* Where a call has the signal mask that holds while it waits. */
enum call_mask {
    MASK_NONE,
    MASK_POINTER,  /* a register points to it */
    MASK_PAIR,     /* a register points to a pointer to it, and its size */
    MASK_EXTENDED, /* in the extended argument of io_uring_enter */
};

struct interruptible_call {
    uint16_t number;
    bool restarts; /* the kernel restarts it after SA_RESTART (but on sockets with a timeout) */
    bool repeats;  /* it may be made again after EINTR */
    bool loses;    /* it undoes its work when it is interrupted, so samples must wait; as when a call that the kernel
                      restarts has ended for another reason than a timeout: by a file system in user space */
    uint8_t time;  /* enum call_time */
    uint8_t mask;  /* enum call_mask */
    uint8_t time_at, rest_at, mask_at; /* index in gregs of the register that has it */
};

/* The row of a call with these arguments; NULL if no handler ends it. The arguments decide about
 * futex, fcntl, ioctl and io_uring_enter. */
const struct interruptible_call *interruptible_call(long number, const greg_t *reg);

#endif
