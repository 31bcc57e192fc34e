#include "hpcrun/source/source-timer.h"

#include "hpcrun/base/sys.h"

long timer_open(clockid_t clock, int signal, void *value)
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

void timer_close(int timer)
{
    sys1(SYS_timer_delete, timer);
}

static void set(int timer, int flags, uint64_t value, uint64_t interval)
{
    struct itimerspec spec = {.it_value = sys_timespec(value),
                              .it_interval = sys_timespec(interval)};
    sys4(SYS_timer_settime, timer, flags, &spec, NULL);
}

void timer_arm_once(int timer, uint64_t ns)
{
    set(timer, 0, ns ? ns : 1, 0);
}

void timer_arm_at(int timer, uint64_t at, uint64_t interval)
{
    set(timer, TIMER_ABSTIME, at ? at : 1, interval);
}

void timer_disarm(int timer)
{
    set(timer, 0, 0, 0);
}
