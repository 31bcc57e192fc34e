/* Signal handler: the functions that arm and disarm run there.
 *
 * POSIX timers that send the sampling signal to one thread, by direct system calls: libc's
 * functions allocate memory, and fail for a thread that is adopted in the child of a fork. */
#ifndef HPCRUN_SOURCE_SOURCE_TIMER_H
#define HPCRUN_SOURCE_SOURCE_TIMER_H

#include "hpcrun/base/sys.h"

/* Creates a timer on `clock` for the calling thread; its signals carry `value`. Returns its id or a
 * negative errno. */
static inline long timer_open(clockid_t clock, int signal, void *value)
{
    int timer = -1;
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = signal,
        .sigev_value.sival_ptr = value,
    };
    event._sigev_un._tid = sys_gettid();
    long result = sys3(SYS_timer_create, clock, &event, &timer);
    return result < 0 ? result : timer;
}

static inline void timer_close(int timer)
{
    sys1(SYS_timer_delete, timer);
}

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
