#include "hpcrun/source/source-timer.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

/* ---- how many ---- */

/* One part in so many of the user's signals is for timers, whoever has the others. A lower limit than
 * FEW was set on purpose, and the program may need nearly all: of 16 threads that send each other
 * signals, some were refused at a limit of 38 (on a busy machine). */
#define PARTS_NEEDED 16
#define PARTS_SPARE  64
#define FEW          256

static _Atomic uint32_t open_timers;

#define FIELD "\nSigQ:\t"

/* The signals that all processes of the user have queued, their timers included; 0: unknown. */
static uint64_t queued_by_user(void)
{
    char status[4096];
    uint64_t count = 0;
    small_file_read("/proc/self/status", status, sizeof status);
    const char *found = strstr(status, FIELD), *number = found ? found + strlen(FIELD) : NULL;
    return number && text_parse_number(&number, &count) ? count : 0;
}

/* Whether one more is allowed, besides `mine`. */
static bool is_allowed(enum timer_need need, uint64_t mine)
{
    struct rlimit limit = {.rlim_cur = 0};
    sys4(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, &limit);
    if (limit.rlim_cur < LEAST_QUEUED_SIGNALS)
        return false;
    if (need == TIMER_SPARE)
        return mine < limit.rlim_cur / PARTS_SPARE;
    if (mine < limit.rlim_cur / PARTS_NEEDED || limit.rlim_cur < FEW)
        return mine < limit.rlim_cur / PARTS_NEEDED;
    uint64_t queued = queued_by_user(), others = queued > mine ? queued - mine : 0;
    return others < limit.rlim_cur && 2 * (mine + 1) <= limit.rlim_cur - others;
}

/* ---- the timers ---- */

long timer_open(enum timer_need need, clockid_t clock, int signal, void *value)
{
    int timer = -1;
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = signal,
        .sigev_value.sival_ptr = value,
    };
    event._sigev_un._tid = sys_gettid();
    if (!is_allowed(need, atomic_fetch_add(&open_timers, 1))) {
        atomic_fetch_sub(&open_timers, 1);
        return -EAGAIN;
    }
    long result = sys3(SYS_timer_create, clock, &event, &timer);
    if (result < 0)
        atomic_fetch_sub(&open_timers, 1);
    return result < 0 ? result : timer;
}

void timer_close(int timer)
{
    sys1(SYS_timer_delete, timer);
    atomic_fetch_sub(&open_timers, 1);
}

void timers_after_fork(void)
{
    atomic_store(&open_timers, 0);
}
