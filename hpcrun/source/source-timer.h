/* Signal handler: the functions that arm and disarm run there.
 *
 * POSIX timers that send the sampling signal to one thread, by direct system calls: libc's
 * functions allocate memory, and fail for a thread that is adopted in the child of a fork.
 *
 * A timer takes one of the signals that the user may queue (RLIMIT_SIGPENDING) as long as it exists.
 * Where none is left, sigqueue and timer_create fail in all programs of the user. So the timers of a
 * process are
 *
 *     limit      needed ones, all    spare ones, while all are
 *     below 64   none                none
 *     below 256  a 16th              less than a 64th
 *     higher     half of what the user's other processes and the program leave, or a 16th
 */
#ifndef HPCRUN_SOURCE_SOURCE_TIMER_H
#define HPCRUN_SOURCE_SOURCE_TIMER_H

#include "hpcrun/base/sys.h"

/* With fewer signals neither timers nor perf are used: perf's signals are queued, too, though not for
 * long, and without room for one the kernel sends SIGIO, which may reach a handler of the program. */
#define LEAST_QUEUED_SIGNALS 64

/* Whether the thread has samples without this timer. */
enum timer_need {
    TIMER_NEEDED,
    TIMER_SPARE, /* it has: the timer makes them cheaper or more exact */
};

/* Normal context; a spare one also in the signal handler. Creates a timer on `clock` for the calling thread; its
 * signals carry `value`. Returns its id or a negative errno. */
long timer_open(enum timer_need need, clockid_t clock, int signal, void *value);

/* From any thread. */
void timer_close(int timer);

/* In the child of a fork, which has none of the parent's timers. */
void timers_after_fork(void);

static inline void timer_set(int timer, int flags, uint64_t value)
{
    struct itimerspec spec = {.it_value = sys_timespec(value)};
    sys4(SYS_timer_settime, timer, flags, &spec, NULL);
}

/* Expires once, `ns` from now (at least 1). */
static inline void timer_arm_once(int timer, uint64_t ns)
{
    timer_set(timer, 0, ns ? ns : 1);
}

/* Expires once, at `at` on the timer's clock (at once if that is past). */
static inline void timer_arm_at(int timer, uint64_t at)
{
    timer_set(timer, TIMER_ABSTIME, at ? at : 1);
}

static inline void timer_disarm(int timer)
{
    timer_set(timer, 0, 0);
}

#endif
