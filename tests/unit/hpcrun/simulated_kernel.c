#include "tests/unit/hpcrun/simulated_kernel.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

struct sim sim;

void sim_start(void)
{
    sim = (struct sim){.wall = 5000000000, .cpu = 1000000, .timer_limit = SIM_TIMERS};
}

/* ---- time ---- */

static void expire(struct sim_timer *timer, uint64_t now)
{
    if (timer->at && timer->at <= now) {
        timer->waits = true;
        timer->at = 0;
    }
}

/* Moves the wall clock, and the thread's clock by `cpu`, which is not more. */
static void pass(uint64_t wall, uint64_t cpu)
{
    sim.wall += wall;
    sim.cpu += cpu;
    for (int i = 0; i < SIM_TIMERS; i++)
        expire(&sim.timers[i], sim.timers[i].on_cpu ? sim.cpu : sim.wall);
    if (!sim.event_enabled)
        return;
    sim.event_count += cpu;
    sim.event_left = sim.event_left > cpu ? sim.event_left - cpu : 0;
    if (sim.event_left == 0) {
        sim.event_enabled = false;
        sim.event_waits = true;
    }
}

static bool any_waits(void)
{
    bool any = sim.event_waits;
    for (int i = 0; i < SIM_TIMERS; i++)
        any |= sim.timers[i].waits;
    return any;
}

/* The time until something expires. */
static uint64_t next_expiry(uint64_t most)
{
    uint64_t next = most;
    for (int i = 0; i < SIM_TIMERS; i++) {
        uint64_t now = sim.timers[i].on_cpu ? sim.cpu : sim.wall;
        if (sim.timers[i].at && sim.timers[i].at - now < next)
            next = sim.timers[i].at - now;
    }
    return sim.event_enabled && sim.event_left < next ? sim.event_left : next;
}

uint64_t sim_run(uint64_t ns)
{
    uint64_t ran = 0;
    while (ran < ns && !any_waits()) {
        uint64_t step = next_expiry(ns - ran);
        pass(step, step);
        ran += step;
    }
    return ran;
}

void sim_run_blocked(uint64_t ns)
{
    pass(ns, ns);
}

void sim_wait(uint64_t ns)
{
    sim.waits++;
    pass(ns, 0);
}

void sim_sleep(uint64_t ns)
{
    sim.waits++;
    for (uint64_t slept = 0, step; slept < ns && !any_waits(); slept += step)
        pass(step = next_expiry(ns - slept), 0);
}

void sim_wait_for_cpu(uint64_t ns)
{
    sim.delay += ns;
    sim.timeslices++;
    sim.preemptions++;
    pass(ns, 0);
}

bool sim_take(siginfo_t *info)
{
    memset(info, 0, sizeof *info);
    if (sim.event_waits) {
        sim.event_waits = false;
        info->si_code = POLL_IN;
        info->si_fd = SIM_FD;
        return true;
    }
    for (int i = 0; i < SIM_TIMERS; i++)
        if (sim.timers[i].waits) {
            info->si_code = SI_TIMER;
            info->si_timerid = i;
            info->si_value.sival_ptr = sim.timers[i].value;
            sim.timers[i].waits = false;
            return true;
        }
    return false;
}

/* ---- system calls ---- */

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static long clock_gettime_call(clockid_t clock, struct timespec *now)
{
    uint64_t ns = clock == CLOCK_MONOTONIC ? sim.wall : sim.cpu;
    *now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
    return 0;
}

static long create_timer(clockid_t clock, const struct sigevent *event, int *id)
{
    for (int i = 0; i < sim.timer_limit; i++)
        if (!sim.timers[i].used) {
            sim.timers[i] = (struct sim_timer){.used = true,
                                               .on_cpu = clock != CLOCK_MONOTONIC,
                                               .value = event->sigev_value.sival_ptr};
            *id = i;
            return 0;
        }
    return -EAGAIN;
}

static long set_timer(int id, int flags, const struct itimerspec *spec)
{
    struct sim_timer *timer = &sim.timers[id];
    uint64_t now = timer->on_cpu ? sim.cpu : sim.wall, value = nanoseconds(&spec->it_value);
    timer->waits = timer->waits && sim.keeps_stale;
    sim.arms += value > 0;
    timer->at = value == 0 || flags & TIMER_ABSTIME ? value : now + value;
    expire(timer, now);
    return 0;
}

static long control_event(long request, const uint64_t *argument)
{
    if (request == PERF_EVENT_IOC_PERIOD) {
        sim.event_period = *argument;
    } else {
        sim.arms += request == PERF_EVENT_IOC_REFRESH;
        sim.event_enabled = request == PERF_EVENT_IOC_REFRESH;
        sim.event_left = sim.event_period;
    }
    return 0;
}

static long get_usage(int who, struct rusage *usage)
{
    sim.looks++;
    if (who != RUSAGE_THREAD)
        return -EINVAL;
    *usage = (struct rusage){.ru_nvcsw = sim.waits, .ru_nivcsw = sim.preemptions};
    return 0;
}

static long open_file(const char *path)
{
    sim.looks++;
    return strcmp(path, "/proc/self/task/1/schedstat") == 0 ? SIM_FILE : -ENOENT;
}

static long read_file(int fd, char *to, size_t room)
{
    if (fd == SIM_FILE)
        return snprintf(to, room, "%lu %lu %lu\n", sim.has_no_accounts ? 0 : sim.cpu, sim.delay,
                        sim.timeslices);
    memcpy(to, &sim.event_count, sizeof sim.event_count);
    return (long)room;
}

long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_clock_gettime: return clock_gettime_call((clockid_t)a, (struct timespec *)b);
    case SYS_timer_create: return create_timer((clockid_t)a, (const struct sigevent *)b, (int *)c);
    case SYS_timer_settime: return set_timer((int)a, (int)b, (const struct itimerspec *)c);
    case SYS_timer_delete: sim.timers[a].used = false; return 0;
    case SYS_perf_event_open: return sim.refuses_perf ? -EACCES : SIM_FD;
    case SYS_ioctl: return control_event(b, (const uint64_t *)c);
    case SYS_openat: return open_file((const char *)b);
    case SYS_read: return read_file((int)a, (char *)b, (size_t)c);
    case SYS_getrusage: return get_usage((int)a, (struct rusage *)b);
    case SYS_prlimit64: ((struct rlimit *)d)->rlim_cur = 1000; return 0;
    case SYS_close:
    case SYS_fcntl: return 0;
    case SYS_gettid: return 1;
    default: return -ENOSYS;
    }
}
