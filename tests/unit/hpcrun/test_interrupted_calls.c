/* Calls that a sample cuts short go on as if nothing had happened; those that a handler of the
 * program cuts short end. The real functions are a script here, and the clock, masks and
 * descriptors are made up. */
#define HPCRUN_BASE_SYSTEM_CALL_H
#define HPCRUN_BASE_HOOK_H

static long sys6(long number, long a, long b, long c, long d, long e, long f);
static long scripted(long a, long b, long c, long d, long e, long f);

/* volatile: the compiler would refuse to call a function that it knows as one of another type. */
static void *volatile any_function = (void *)scripted;

#define HOOK
#define REAL_FUNCTION(name)
#define REAL(name) ((__typeof__(&name))any_function)

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/restart/eintr.c"
#include "hpcrun/restart/transfers.c"

#include <string.h>

#define SAMPLES SIGRTMIN /* the sampling signal */
#define MS      1000000u

struct process process;
struct sampling sampling;
__thread unsigned thread_samples_handled, thread_program_handlers;
__thread struct agent_slot *own_slot;

/* ---- the script ---- */

/* What happens in one call of the real function. */
struct attempt {
    long result;
    int error;
    unsigned samples, handlers; /* ours and the program's that run meanwhile */
    uint64_t ns;                /* for which it waits */
};

/* What a call got. */
struct call {
    long argument[6];
    struct timespec timeout; /* if its third, fourth or fifth argument is one: see timeout_at */
    bool has_timeout;
    uint64_t set;  /* if an argument is a signal set: see set_at */
    uint64_t mask; /* of the thread */
};

static struct {
    const struct attempt *attempts;
    size_t n;
    struct call calls[8];
    int timeout_at; /* the argument that is a timespec; -1: none */
    int set_at;     /* the argument that is a signal set; -1: none */
    uint64_t now, mask;
    enum { PIPE = 1, MEMORY_DEVICE, STREAM, PLAIN_FILE } kind; /* of all descriptors */
    uint64_t socket_timeout;                                   /* ns; 0: none */
    void *part_frame;
} sim;

static long scripted(long a, long b, long c, long d, long e, long f)
{
    struct call *call = &sim.calls[sim.n];
    const struct attempt *attempt = &sim.attempts[sim.n++];
    *call = (struct call){.argument = {a, b, c, d, e, f}, .mask = sim.mask};
    if (sim.timeout_at >= 0 && call->argument[sim.timeout_at]) {
        call->has_timeout = true;
        call->timeout = *(const struct timespec *)call->argument[sim.timeout_at];
    }
    if (sim.set_at >= 0)
        call->set = *(const uint64_t *)call->argument[sim.set_at];
    thread_samples_handled += attempt->samples;
    thread_program_handlers += attempt->handlers;
    sim.now += attempt->ns;
    if (attempt->error)
        errno = attempt->error;
    if (attempt->result == EINTR && d) /* clock_nanosleep stores the rest */
        *(struct timespec *)d = sys_timespec(to_ns(&call->timeout) - attempt->ns);
    return attempt->result;
}

static long get_option(long option, void *value)
{
    if (option == SO_TYPE)
        *(int *)value = SOCK_STREAM;
    else if (option == SO_DOMAIN)
        *(int *)value = AF_INET;
    else
        *(struct timeval *)value =
            (struct timeval){.tv_sec = (time_t)(sim.socket_timeout / 1000000000u),
                             .tv_usec = (suseconds_t)(sim.socket_timeout % 1000000000u / 1000)};
    return 0;
}

static long get_status(struct stat *status)
{
    *status = (struct stat){.st_mode = sim.kind == PIPE            ? S_IFIFO
                                       : sim.kind == MEMORY_DEVICE ? S_IFCHR
                                                                   : S_IFREG,
                            .st_rdev = makedev(1, 9)};
    return 0;
}

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    (void)e;
    (void)f;
    switch (number) {
    case SYS_clock_gettime: *(struct timespec *)b = sys_timespec(sim.now); return 0;
    case SYS_rt_sigprocmask:
        *(uint64_t *)c = sim.mask;
        sim.mask = a == SIG_BLOCK ? sim.mask | *(uint64_t *)b : *(uint64_t *)b;
        return 0;
    case SYS_getsockopt: return sim.kind == STREAM ? get_option(c, (void *)d) : -ENOTSOCK;
    case SYS_fstat: return get_status((struct stat *)b);
    default: return -ENOTTY;
    }
}

void restart_has_part(void *frame)
{
    sim.part_frame = frame;
}

static int begin(void **state)
{
    (void)state;
    memset(&sim, 0, sizeof sim);
    sim.now = 1000 * (uint64_t)1000000000;
    sim.timeout_at = -1;
    sim.set_at = -1;
    process.active = true;
    process.signal = SAMPLES;
    errno = 0;
    return 0;
}

/* The same script from its beginning. */
static void again(void **state)
{
    const struct attempt *attempts = sim.attempts;
    begin(state);
    sim.attempts = attempts;
}

#define SCRIPT(...)                                                                                \
    sim.attempts = (const struct attempt[])                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Attempts that end early. */
#define BY_SAMPLE(ns)                                                                              \
    {                                                                                              \
        -1, EINTR, 1, 0, ns                                                                        \
    }
#define BY_HANDLER(ns)                                                                             \
    {                                                                                              \
        -1, EINTR, 0, 1, ns                                                                        \
    }
#define BY_BOTH(ns)                                                                                \
    {                                                                                              \
        -1, EINTR, 1, 1, ns                                                                        \
    }

static uint64_t timeout_of(size_t call)
{
    assert_true(sim.calls[call].has_timeout);
    return to_ns(&sim.calls[call].timeout);
}

/* ---- calls that wait ---- */

static void a_wait_goes_on_for_the_rest_of_its_time(void **state)
{
    (void)state;
    SCRIPT(BY_SAMPLE(300 * MS), BY_SAMPLE(500 * MS), {0, 0, 1, 0, 200 * MS});
    sim.timeout_at = 2;
    assert_int_equal(poll(NULL, 0, 1000), 0);
    assert_int_equal(sim.n, 3);
    assert_int_equal(timeout_of(0), 1000 * MS);
    assert_int_equal(timeout_of(1), 700 * MS);
    assert_int_equal(timeout_of(2), 200 * MS);
}

static void a_handler_of_the_program_ends_it(void **state)
{
    SCRIPT(BY_HANDLER(1));
    assert_int_equal(poll(NULL, 0, 1000), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(sim.n, 1);
    begin(state);
    SCRIPT(BY_BOTH(1));
    assert_int_equal(poll(NULL, 0, 1000), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(sim.n, 1);
    begin(state);
    SCRIPT(BY_SAMPLE(1), BY_HANDLER(1));
    assert_int_equal(poll(NULL, 0, 1000), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(sim.n, 2);
}

/* A stop and continuation of the process, for instance, ends some calls without any handler. */
static void what_ends_it_without_a_handler_does_so_still(void **state)
{
    (void)state;
    SCRIPT(BY_SAMPLE(1), {-1, EINTR, 0, 0, 1});
    assert_int_equal(poll(NULL, 0, 1000), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(sim.n, 2);
}

static void other_results_stay(void **state)
{
    SCRIPT({3, 0, 1, 0, 1});
    assert_int_equal(poll(NULL, 0, 1000), 3);
    assert_int_equal(sim.n, 1);
    begin(state);
    SCRIPT({-1, EINVAL, 1, 0, 1});
    assert_int_equal(poll(NULL, 0, 1000), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sim.n, 1);
}

static void a_wait_without_end_has_none_afterwards(void **state)
{
    (void)state;
    SCRIPT(BY_SAMPLE(300 * MS), {1, 0, 0, 0, 1});
    sim.timeout_at = 2;
    assert_int_equal(poll(NULL, 0, -1), 1);
    assert_false(sim.calls[0].has_timeout || sim.calls[1].has_timeout);
}

/* A signal that comes between two attempts must end the second one: it is blocked until then. */
static void signals_are_blocked_between_two_attempts(void **state)
{
    (void)state;
    SCRIPT(BY_SAMPLE(1), {-1, EBADF, 0, 0, 1});
    sim.mask = sys_mask_bit(SIGUSR1);
    assert_int_equal(ppoll(NULL, 0, NULL, NULL), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(sim.calls[0].mask, sys_mask_bit(SIGUSR1));
    assert_true(sim.calls[1].mask & sys_mask_bit(SIGUSR2));
    for (const int *signal = (int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE, 32, 33, SAMPLES, 0}; *signal;
         signal++)
        assert_false(sim.calls[1].mask & sys_mask_bit(*signal));
    const uint64_t *outside = (const uint64_t *)sim.calls[1].argument[3];
    assert_non_null(outside);
    assert_int_equal(sim.mask, sys_mask_bit(SIGUSR1));
}

static void a_mask_never_has_the_sampling_signal(void **state)
{
    sigset_t all;
    (void)state;
    sigfillset(&all);
    SCRIPT({0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 1});
    sim.set_at = 3;
    ppoll(NULL, 0, NULL, &all);
    sim.set_at = 4;
    epoll_pwait(1, NULL, 0, 0, &all);
    sim.set_at = 0;
    sigsuspend(&all);
    for (int i = 0; i < 3; i++) {
        assert_true(sim.calls[i].set & sys_mask_bit(SIGUSR1));
        assert_false(sim.calls[i].set & sys_mask_bit(SAMPLES));
    }
    assert_true(sigismember(&all, SAMPLES));
}

/* Rounded down, the rest of a millisecond would be spent busy. */
static void milliseconds_are_rounded_up(void **state)
{
    (void)state;
    SCRIPT(BY_SAMPLE(MS / 2), {0, 0, 0, 0, MS});
    assert_int_equal(epoll_wait(1, NULL, 0, 1), 0);
    assert_int_equal(sim.calls[0].argument[3], 1);
    assert_int_equal(sim.calls[1].argument[3], 1);
}

static void select_leaves_the_rest_of_the_time(void **state)
{
    (void)state;
    struct timeval timeout = {.tv_sec = 2, .tv_usec = 500000};
    SCRIPT(BY_SAMPLE(300 * MS), {2, 0, 0, 0, 1200 * MS});
    sim.timeout_at = 4;
    assert_int_equal(select(0, NULL, NULL, NULL, &timeout), 2);
    assert_int_equal(timeout_of(0), 2500u * MS);
    assert_int_equal(timeout_of(1), 2200u * MS);
    assert_int_equal(timeout.tv_sec, 1);
    assert_int_equal(timeout.tv_usec, 0);
}

static void waits_without_timeout_go_on(void **state)
{
    sem_t semaphore;
    for (int i = 0; i < 4; i++) {
        begin(state);
        SCRIPT(BY_SAMPLE(1), BY_SAMPLE(1), {0, 0, 0, 0, 1});
        int result = i == 0   ? sem_wait(&semaphore)
                     : i == 1 ? tcdrain(0)
                     : i == 2 ? msgsnd(0, "", 0, 0)
                              : semop(0, NULL, 0);
        assert_int_equal(result, 0);
        assert_int_equal(sim.n, 3);
    }
}

/* ---- sleeps ---- */

static void a_sleep_ends_when_it_would_have(void **state)
{
    (void)state;
    const struct timespec wanted = {.tv_sec = 2};
    struct timespec left = {.tv_sec = 77};
    SCRIPT({EINTR, 0, 1, 0, 500 * MS}, {EINTR, 0, 1, 0, 500 * MS}, {0, 0, 0, 0, 1});
    sim.timeout_at = 2;
    uint64_t start = sim.now;
    assert_int_equal(clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, &left), 0);
    assert_int_equal(sim.n, 3);
    assert_int_equal(sim.calls[1].argument[1], TIMER_ABSTIME);
    assert_int_equal(timeout_of(1), start + 2000u * MS);
    assert_int_equal(timeout_of(2), start + 2000u * MS);
    assert_int_equal(left.tv_sec, 77);
}

static void a_sleep_until_a_time_stays_so(void **state)
{
    (void)state;
    const struct timespec wanted = sys_timespec(sim.now + 2000u * MS);
    struct timespec left = {.tv_sec = 77};
    SCRIPT({EINTR, 0, 1, 0, 500 * MS}, {EINTR, 0, 0, 1, 500 * MS});
    sim.timeout_at = 2;
    assert_int_equal(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &wanted, &left), EINTR);
    assert_int_equal(sim.calls[1].argument[0], CLOCK_REALTIME);
    assert_int_equal(timeout_of(1), to_ns(&wanted));
    assert_int_equal(left.tv_sec, 77);
}

static void an_interrupted_sleep_says_what_is_left(void **state)
{
    (void)state;
    const struct timespec wanted = {.tv_sec = 2};
    struct timespec left;
    SCRIPT({EINTR, 0, 1, 0, 500 * MS}, {EINTR, 0, 0, 1, 1 * MS});
    sim.timeout_at = 2;
    assert_int_equal(nanosleep(&wanted, &left), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(to_ns(&left), 1499 * MS);
}

/* ---- calls that move data ---- */

static char data[1000];

static void assert_call(size_t i, size_t done, size_t size)
{
    assert_ptr_equal(sim.calls[i].argument[1], data + done);
    assert_int_equal(sim.calls[i].argument[2], size);
}

static void a_part_goes_on_with_the_rest(void **state)
{
    SCRIPT({300, 0, 1, 0, 1}, BY_SAMPLE(1), {500, 0, 1, 0, 1}, {200, 0, 0, 0, 1});
    sim.kind = PIPE;
    assert_int_equal(write(1, data, 1000), 1000);
    assert_int_equal(sim.n, 4);
    assert_call(0, 0, 1000);
    assert_call(1, 300, 700);
    assert_call(2, 300, 700);
    assert_call(3, 800, 200);
    assert_null(sim.part_frame);
    again(state);
    sim.kind = MEMORY_DEVICE;
    assert_int_equal(read(1, data, 1000), 1000);
    assert_int_equal(sim.n, 4);
    again(state);
    assert_int_equal(getrandom(data, 1000, 0), 1000);
    assert_int_equal(sim.n, 4);
}

static void a_part_that_is_all_there_is_stays(void **state)
{
    SCRIPT({300, 0, 1, 0, 1});
    sim.kind = PIPE;
    assert_int_equal(read(1, data, 1000), 300);
    assert_int_equal(sim.n, 1);
    again(state);
    sim.kind = PLAIN_FILE;
    assert_int_equal(write(1, data, 1000), 300);
    assert_int_equal(sim.n, 1);
    again(state);
    sim.kind = STREAM;
    assert_int_equal(recv(1, data, 1000, 0), 300);
    assert_int_equal(sim.n, 1);
}

static void a_part_without_a_sample_stays(void **state)
{
    (void)state;
    SCRIPT({300, 0, 0, 0, 1});
    sim.kind = PIPE;
    assert_int_equal(write(1, data, 1000), 300);
    assert_int_equal(sim.n, 1);
}

static void a_handler_ends_a_call_with_the_part(void **state)
{
    SCRIPT({300, 0, 1, 1, 1});
    sim.kind = PIPE;
    assert_int_equal(write(1, data, 1000), 300);
    assert_int_equal(sim.n, 1);
    begin(state);
    SCRIPT({300, 0, 1, 0, 1}, BY_HANDLER(1));
    sim.kind = PIPE;
    assert_int_equal(write(1, data, 1000), 300);
    assert_int_equal(sim.n, 2);
}

static void an_error_after_a_part_is_the_next_calls(void **state)
{
    (void)state;
    SCRIPT({300, 0, 1, 0, 1}, {-1, EPIPE, 0, 0, 1});
    sim.kind = STREAM;
    assert_int_equal(send(1, data, 1000, MSG_DONTROUTE), 300);
    assert_int_equal(sim.calls[0].argument[3], MSG_DONTROUTE);
    assert_int_equal(sim.calls[1].argument[3], MSG_DONTROUTE | MSG_NOSIGNAL);
}

static void all_is_received_if_all_is_waited_for(void **state)
{
    SCRIPT({300, 0, 1, 0, 1}, {700, 0, 0, 0, 1});
    sim.kind = STREAM;
    assert_int_equal(recv(1, data, 1000, MSG_WAITALL), 1000);
    assert_call(1, 300, 700);
    again(state);
    sim.kind = STREAM;
    assert_int_equal(recv(1, data, 1000, MSG_WAITALL | MSG_PEEK), 300);
}

static void pieces_go_on_where_they_were(void **state)
{
    (void)state;
    const struct iovec pieces[] = {{data, 100}, {data + 100, 400}, {data + 500, 500}};
    SCRIPT({300, 0, 1, 0, 1}, {200, 0, 0, 0, 1}, {500, 0, 0, 0, 1});
    sim.kind = PIPE;
    assert_int_equal(writev(1, pieces, 3), 1000);
    assert_int_equal(sim.n, 3);
    assert_call(1, 300, 200);
    assert_call(2, 500, 500);
}

/* The timeout is read at the first sample, and not renewed. */
static void a_sockets_timeout_is_kept(void **state)
{
    SCRIPT(BY_SAMPLE(300 * MS), BY_SAMPLE(300 * MS), BY_SAMPLE(300 * MS), BY_SAMPLE(300 * MS));
    sim.kind = STREAM;
    sim.socket_timeout = 500 * MS;
    assert_int_equal(recv(1, data, 1000, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(sim.n, 3);
    again(state);
    sim.kind = STREAM;
    sim.socket_timeout = 500 * MS;
    assert_int_equal(connect(1, NULL, 0), -1);
    assert_int_equal(errno, EINPROGRESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_wait_goes_on_for_the_rest_of_its_time, begin),
        cmocka_unit_test_setup(a_handler_of_the_program_ends_it, begin),
        cmocka_unit_test_setup(what_ends_it_without_a_handler_does_so_still, begin),
        cmocka_unit_test_setup(other_results_stay, begin),
        cmocka_unit_test_setup(a_wait_without_end_has_none_afterwards, begin),
        cmocka_unit_test_setup(signals_are_blocked_between_two_attempts, begin),
        cmocka_unit_test_setup(a_mask_never_has_the_sampling_signal, begin),
        cmocka_unit_test_setup(milliseconds_are_rounded_up, begin),
        cmocka_unit_test_setup(select_leaves_the_rest_of_the_time, begin),
        cmocka_unit_test_setup(waits_without_timeout_go_on, begin),
        cmocka_unit_test_setup(a_sleep_ends_when_it_would_have, begin),
        cmocka_unit_test_setup(a_sleep_until_a_time_stays_so, begin),
        cmocka_unit_test_setup(an_interrupted_sleep_says_what_is_left, begin),
        cmocka_unit_test_setup(a_part_goes_on_with_the_rest, begin),
        cmocka_unit_test_setup(a_part_that_is_all_there_is_stays, begin),
        cmocka_unit_test_setup(a_part_without_a_sample_stays, begin),
        cmocka_unit_test_setup(a_handler_ends_a_call_with_the_part, begin),
        cmocka_unit_test_setup(an_error_after_a_part_is_the_next_calls, begin),
        cmocka_unit_test_setup(all_is_received_if_all_is_waited_for, begin),
        cmocka_unit_test_setup(pieces_go_on_where_they_were, begin),
        cmocka_unit_test_setup(a_sockets_timeout_is_kept, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
