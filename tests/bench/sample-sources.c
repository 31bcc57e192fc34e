/* What a sample costs by the source that sends its signal, with a handler that only arms the next
 * one: perf's task clock in five ways, and POSIX timers in four. Each source runs next to a run
 * without sampling, in turns, with a loop that always does the same work. Prints for each source
 * medians over the rounds: CPU time per sample, and the part of it in which the handler arms.
 *
 * usage: sample-sources [THREADS [ROUNDS [RATE [BYTES]]]]    (1 thread, 15 rounds, 5000/s, 1 MiB)
 *
 * BYTES is the memory that the loop walks through. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_THREADS 8
#define MAX_ROUNDS  100

enum source {
    NONE,
    PERF_ONCE,
    PERF_ONCE_SAME,
    PERF_ON,
    PERF_ON_RANDOM,
    PERF_TRAP,
    PERF_SILENT,
    TIMER_ONCE,
    TIMER_REPEATS,
    TIMER_REPEATS_RANDOM,
    TIMERS_IN_TURNS,
    SOURCES
};

static const char *const names[] = {
    "none",
    "perf, one overflow, random period",
    "perf, one overflow, same period",
    "perf, runs on",
    "perf, runs on, random period",
    "perf, runs on, SIGTRAP",
    "perf, runs on, no signal",
    "timer, once, random period",
    "timer, repeats",
    "timer, repeats, random period",
    "two timers in turns, random period",
};

struct worker {
    enum source source;
    int fd, timers[2];
    uint64_t random, wall, samples, arm_ticks, cpu;
    uint32_t *table;
    pthread_t id;
};

static struct worker workers[MAX_THREADS];
static __thread struct worker *self;
static uint64_t period, words, steps;
static volatile uint32_t result;

static uint64_t clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t random_period(struct worker *w)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    uint64_t x = w->random * 0x2545f4914f6cdd1du;
    return period / 2 + (uint64_t)((unsigned __int128)x * period >> 64);
}

static void set_timer(int timer, int flags, uint64_t at, uint64_t interval)
{
    struct itimerspec spec = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)},
                              .it_interval = {0, (long)interval}};
    syscall(SYS_timer_settime, timer, flags, &spec, NULL);
}

/* ---- the handler ---- */

/* After a preemption both have expired: they begin anew. */
static void arm_in_turns(struct worker *w, int expired, uint64_t next)
{
    uint64_t now = clock_now(CLOCK_MONOTONIC);
    if (w->wall < now) {
        w->wall = now + next;
        set_timer(w->timers[!expired], TIMER_ABSTIME, w->wall, 0);
    }
    w->wall += next;
    set_timer(w->timers[expired], TIMER_ABSTIME, w->wall, 0);
}

static void arm(struct worker *w, const siginfo_t *info)
{
    uint64_t next = random_period(w);
    switch (w->source) {
    case PERF_ONCE: ioctl(w->fd, PERF_EVENT_IOC_PERIOD, &next); /* fall through */
    case PERF_ONCE_SAME: ioctl(w->fd, PERF_EVENT_IOC_REFRESH, 1); break;
    case PERF_ON_RANDOM: ioctl(w->fd, PERF_EVENT_IOC_PERIOD, &next); break;
    case TIMER_ONCE: set_timer(w->timers[0], 0, next, 0); break;
    case TIMER_REPEATS_RANDOM: set_timer(w->timers[0], 0, next, period); break;
    case TIMERS_IN_TURNS:
        arm_in_turns(w, info->si_value.sival_int, next);
        break;
    default: break;
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    int saved = errno;
    uint64_t before = __rdtsc();
    if (!self)
        return;
    arm(self, info);
    self->samples++;
    self->arm_ticks += __rdtsc() - before;
    errno = saved;
}

/* ---- sources ---- */

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static void open_perf(struct worker *w)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = period,
                                   .disabled = 1,
                                   .exclude_hv = 1,
                                   .sigtrap = w->source == PERF_TRAP,
                                   .remove_on_exec = w->source == PERF_TRAP};
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
    w->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    check(w->fd >= 0, "perf_event_open");
    if (w->source != PERF_TRAP && w->source != PERF_SILENT) {
        fcntl(w->fd, F_SETFL, O_ASYNC | O_NONBLOCK);
        fcntl(w->fd, F_SETSIG, SIGRTMAX);
        fcntl(w->fd, F_SETOWN_EX, &owner);
    }
    int once = w->source == PERF_ONCE || w->source == PERF_ONCE_SAME;
    ioctl(w->fd, once ? PERF_EVENT_IOC_REFRESH : PERF_EVENT_IOC_ENABLE, once);
}

static void open_timers(struct worker *w)
{
    int repeats = w->source == TIMER_REPEATS || w->source == TIMER_REPEATS_RANDOM;
    int count = w->source == TIMERS_IN_TURNS ? 2 : 1;
    w->wall = clock_now(CLOCK_MONOTONIC);
    for (int i = 0; i < count; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                                 .sigev_signo = SIGRTMAX,
                                 .sigev_value.sival_int = i};
        event._sigev_un._tid = gettid();
        check(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &w->timers[i]) == 0, "timer");
        w->wall += period;
        set_timer(w->timers[i], TIMER_ABSTIME, w->wall, repeats ? period : 0);
    }
}

static void start(struct worker *w)
{
    w->fd = w->timers[0] = w->timers[1] = -1;
    w->samples = w->arm_ticks = 0;
    self = w;
    if (w->source >= TIMER_ONCE)
        open_timers(w);
    else if (w->source != NONE)
        open_perf(w);
}

static void stop(const struct worker *w)
{
    for (int i = 0; i < 2; i++)
        if (w->timers[i] >= 0)
            syscall(SYS_timer_delete, w->timers[i]);
    if (w->fd >= 0)
        close(w->fd);
}

/* ---- the program that is sampled ---- */

static void work(const struct worker *w)
{
    uint32_t at = 1, sum = 0;
    for (uint64_t i = 0; i < steps; i++) {
        at = at * 1664525 + 1013904223;
        uint32_t value = w->table[(at >> 8) & (words - 1)];
        sum += value ^ (sum >> 3);
        w->table[(at >> 9) & (words - 1)] = sum;
        if (sum & 64)
            sum *= 3;
    }
    result = sum;
}

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    start(w);
    uint64_t from = clock_now(CLOCK_THREAD_CPUTIME_ID);
    work(w);
    w->cpu = clock_now(CLOCK_THREAD_CPUTIME_ID) - from;
    stop(w);
    return NULL;
}

struct sums {
    double cpu, samples, arm_ticks;
};

static struct sums run(enum source source, int threads)
{
    struct sums sums = {0};
    for (int i = 0; i < threads; i++) {
        workers[i].source = source;
        check(pthread_create(&workers[i].id, NULL, run_worker, &workers[i]) == 0, "thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].id, NULL);
        sums.cpu += (double)workers[i].cpu;
        sums.samples += (double)workers[i].samples;
        sums.arm_ticks += (double)workers[i].arm_ticks;
    }
    if (source == PERF_SILENT)
        sums.samples = sums.cpu / (double)period;
    return sums;
}

/* Steps that take about 60 ms. */
static void choose_steps(struct worker *w)
{
    uint64_t took = 0;
    for (steps = 100000; took < 10000000; steps *= 2) {
        uint64_t from = clock_now(CLOCK_MONOTONIC);
        work(w);
        took = clock_now(CLOCK_MONOTONIC) - from;
    }
    steps = (uint64_t)((double)(steps / 2) * 60e6 / (double)took);
}

static double ticks_per_ns(void)
{
    uint64_t from = clock_now(CLOCK_MONOTONIC), ticks = __rdtsc(), now;
    do
        now = clock_now(CLOCK_MONOTONIC);
    while (now - from < 20000000);
    return (double)(__rdtsc() - ticks) / (double)(now - from);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double cost[SOURCES][MAX_ROUNDS], arming[SOURCES][MAX_ROUNDS];
    int threads = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 15;
    period = (uint64_t)(1e9 / (argc > 3 ? atof(argv[3]) : 5000));
    words = (argc > 4 ? strtoull(argv[4], NULL, 0) : 1 << 20) / sizeof(uint32_t);
    if (threads < 1 || threads > MAX_THREADS || rounds < 1 || rounds > MAX_ROUNDS)
        return 2;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMAX, &action, NULL);
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < threads; i++) {
        workers[i].table = calloc(words, sizeof(uint32_t));
        workers[i].random = 88172645463325252u + (uint64_t)i;
        check(workers[i].table != NULL, "calloc");
    }
    choose_steps(&workers[0]);
    double scale = ticks_per_ns();
    for (int r = 0; r < rounds; r++)
        for (int n = 1; n < SOURCES; n++) {
            enum source source = (enum source)(1 + (n + r) % (SOURCES - 1));
            struct sums without = run(NONE, threads), with = run(source, threads);
            cost[source][r] = (with.cpu - without.cpu) / with.samples;
            arming[source][r] = with.arm_ticks / with.samples / scale;
        }
    printf("%-36s %10s %23s %10s\n", "source", "ns/sample", "quartiles", "arming ns");
    for (int s = 1; s < SOURCES; s++) {
        qsort(cost[s], (size_t)rounds, sizeof(double), compare);
        qsort(arming[s], (size_t)rounds, sizeof(double), compare);
        printf("%-36s %10.0f %11.0f .. %8.0f %10.0f\n", names[s], cost[s][rounds / 2],
               cost[s][rounds / 4], cost[s][rounds * 3 / 4], arming[s][rounds / 2]);
    }
    return 0;
}
