/* Calls that signals interrupt, for the programs calls_*: NAME samples|handler|restarting-handler
 *
 * The initial thread makes each CALL. When it waits in the kernel, a second thread
 *   1. lets it wait for a while, so that samples come,
 *   2. in handler modes sends SIGUSR1 (its handler is set with or without SA_RESTART) and waits again,
 *   3. ends the call.
 * Each call prints a line: return value, error, number of handlers of the program that ran, whether it
 * ended before its timeout. A profiler must not change any of them. */
#ifndef TESTS_PROGRAMS_INTERRUPTED_CALLS_H
#define TESTS_PROGRAMS_INTERRUPTED_CALLS_H

#include "burn.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { SAMPLES = 1, HANDLER = 2, RESTARTING = 4, ALL_MODES = 7 };

/* A call that no other thread ends has the timeout `wait_ms`, or ends by the signal. Otherwise the
 * timeout is long, so that it does not come first if the machine is halted. */
struct call {
    const char *name;
    long (*make)(void);
    void (*prepare)(void); /* NULL, as `end`: nothing needs to be done */
    void (*end)(void);
    unsigned modes; /* modes in which native runs always give the same line; 0: ALL_MODES */
    bool timed;     /* without a handler it ends by its timeout */
};

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* those at the end are 0 */
static struct call calls[100];
static int n_calls;

#define ADD_CALL(name, function, ...)                                                              \
    __attribute__((constructor)) static void add_##function(void)                                  \
    {                                                                                              \
        calls[n_calls++] = (struct call){name, function, __VA_ARGS__};                             \
    }

/* CALL(NAME, PREPARE, END, MODES, IS_TIMED) { return RESULT; } makes a call by libc's function;
 * RAW_CALL by syscall() and by an instruction of its own; EVERY_CALL in all three ways. What the
 * latter two have in MADE is by libc, and by the number and the arguments of the system call. */
enum way { LIBC, BY_SYSCALL, INLINED };

#define CALL(name, ...)                                                                            \
    static long call_##name(void);                                                                 \
    ADD_CALL(#name, call_##name, __VA_ARGS__)                                                      \
    static long call_##name(void)
#define CALL_BY(way, name, ...)                                                                    \
    static long name##_##way(void)                                                                 \
    {                                                                                              \
        return call_##name(way);                                                                   \
    }                                                                                              \
    ADD_CALL(#name " " #way, name##_##way, __VA_ARGS__)
#define RAW_CALL(name, ...)                                                                        \
    static inline __attribute__((always_inline)) long call_##name(enum way way);                   \
    CALL_BY(BY_SYSCALL, name, __VA_ARGS__)                                                         \
    CALL_BY(INLINED, name, __VA_ARGS__)                                                            \
    static inline __attribute__((always_inline)) long call_##name(enum way way)
#define EVERY_CALL(name, ...)                                                                      \
    static inline __attribute__((always_inline)) long call_##name(enum way way);                   \
    CALL_BY(LIBC, name, __VA_ARGS__)                                                               \
    RAW_CALL(name, __VA_ARGS__)

#define MADE(by_libc, ...) (way == LIBC ? (long)(by_libc) : RAW(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
#define RAW(number, a, b, c, d, e, f, ...)                                                         \
    (way == INLINED ? inlined(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f))              \
                    : syscall(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f)))
#define ARG(x) ((long)(x))

#define REGISTERS_CHANGED (-77) /* the kernel leaves those of the arguments */

static inline __attribute__((always_inline)) long inlined(long number, long a, long b, long c,
                                                          long d, long e, long f)
{
    long result, rdi = a, rsi = b, rdx = c;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9)
                     : "a"(number)
                     : "rcx", "r11", "memory");
    if (rdi != a || rsi != b || rdx != c || r10 != d || r8 != e || r9 != f)
        return REGISTERS_CHANGED;
    errno = result < 0 ? (int)-result : 0;
    return result < 0 ? -1 : result;
}

static unsigned mode;
static long wait_ms;  /* the timeout of this call, if it has one */
static int fds[8];    /* for the call's use; closed after it */
static char name[64]; /* of a file or queue of its own */
static pthread_t caller;

#define EXPOSURE_MS 6
#define SLACK_MS    5 /* timeouts of sockets are in clock ticks */
#define SHORT_MS    40
#define LONG_MS     30000

static struct timespec in_ms(long ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static __attribute__((unused)) struct timespec at_ms(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms % 1000 * 1000000;
    t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Ends the program with an error if a preparation of a call failed. */
static __attribute__((unused)) long must(long result)
{
    if (result == -1) {
        printf("%s failed: %s\n", name, strerror(errno));
        exit(1);
    }
    return result;
}

/* What was made, after which `undo` leaves errno as it was. */
#define THEN(made, undo)                                                                           \
    ({                                                                                             \
        long result_ = (made);                                                                     \
        int error_ = errno;                                                                        \
        undo;                                                                                      \
        errno = error_;                                                                            \
        result_;                                                                                   \
    })

static __attribute__((unused)) void prepare_pipe(void)
{
    must(pipe(fds));
}

static __attribute__((unused)) void put_byte(void)
{
    must(write(fds[1], "x", 1));
}

static volatile sig_atomic_t handled;

static void count_signal(int number)
{
    (void)number;
    handled++;
}

static struct {
    pthread_barrier_t start, end;
    int tid;
    const struct call *call;
    _Atomic bool called, returned, ended; /* `ended`: the second thread is about to end the call */
} round_;

/* Waits until the caller waits in the kernel (it shows the call's number and not "running"), or has
 * returned. */
static void await_waiting(void)
{
    char path[64], first = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", round_.tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (!round_.called)
        sched_yield();
    while (!round_.returned && pread(fd, &first, 1, 0) == 1 && (first < '0' || first > '9'))
        sched_yield();
    close(fd);
}

static void expose(void)
{
    struct timespec time = in_ms(EXPOSURE_MS);
    nanosleep(&time, NULL);
}

static void *interrupt_calls(void *argument)
{
    for (;;) {
        pthread_barrier_wait(&round_.start);
        if (!round_.call)
            return argument;
        await_waiting();
        expose();
        if (mode != SAMPLES) {
            pthread_kill(caller, SIGUSR1);
            while (!handled)
                sched_yield();
            expose();
        }
        round_.ended = true;
        if (round_.call->end)
            round_.call->end();
        pthread_barrier_wait(&round_.end);
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] > 0)
            close(fds[i]);
        fds[i] = 0;
    }
}

/* The kernel counts timeouts of sockets in ticks, which come late after a halt of a virtual machine: a
 * timeout that begins before the kernel has caught up ends early. The coarse clock advances by the
 * same ticks. */
static long elapsed_ms(const uint64_t begin[2])
{
    uint64_t exact = clock_ns(CLOCK_MONOTONIC) - begin[0];
    uint64_t coarse = clock_ns(CLOCK_MONOTONIC_COARSE) - begin[1];
    return (long)((exact > coarse ? exact : coarse) / 1000000);
}

static void interrupt(const struct call *call)
{
    bool is_short = mode == SAMPLES && call->timed;
    wait_ms = is_short ? SHORT_MS : LONG_MS;
    snprintf(name, sizeof name, "/hpctest-%s-%d", call->name, getpid());
    handled = 0;
    round_.call = call;
    round_.called = round_.returned = round_.ended = false;
    if (call->prepare)
        call->prepare();
    pthread_barrier_wait(&round_.start);
    const uint64_t begin[2] = {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_MONOTONIC_COARSE)};
    errno = 0;
    round_.called = true;
    long result = call->make();
    const char *error = result == -1 ? strerrorname_np(errno) : "-";
    round_.returned = true;
    bool early = is_short && elapsed_ms(begin) < SHORT_MS - SLACK_MS;
    pthread_barrier_wait(&round_.end);
    printf("%s: %ld %s, %d handled%s\n", call->name, result, error, (int)handled,
           early ? ", early" : "");
    close_all();
}

int main(int count, char **arguments)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = count_signal};
    mode = count != 2                                        ? 0
           : strcmp(arguments[1], "samples") == 0            ? SAMPLES
           : strcmp(arguments[1], "handler") == 0            ? HANDLER
           : strcmp(arguments[1], "restarting-handler") == 0 ? RESTARTING
                                                             : 0;
    if (mode == 0)
        return 2;
    action.sa_flags = mode == RESTARTING ? SA_RESTART : 0;
    sigaction(SIGUSR1, &action, NULL);
    alarm(600); /* ends only what hangs, on any machine */
    setvbuf(stdout, NULL, _IOLBF, 0);
    caller = pthread_self();
    round_.tid = gettid();
    pthread_barrier_init(&round_.start, NULL, 2);
    pthread_barrier_init(&round_.end, NULL, 2);
    pthread_create(&thread, NULL, interrupt_calls, NULL);
    for (int i = 0; i < n_calls; i++)
        if (mode & (calls[i].modes ? calls[i].modes : ALL_MODES))
            interrupt(&calls[i]);
    round_.call = NULL;
    pthread_barrier_wait(&round_.start);
    pthread_join(thread, NULL);
    return 0;
}

#endif
