/* What becomes of a system call that a sample has ended: the registers with which the thread goes on. The
 * kernel and the number of the call are made up. */
#define HPCRUN_BASE_SYSTEM_CALL_H

static long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/restart/ended-calls.c"
#include "hpcrun/restart/resumed-calls.c"

#include <poll.h>
#include <sys/ioctl.h>

#define SAMPLES SIGRTMIN /* the sampling signal */
#define MS      1000000u
#define SECOND  1000000000u

struct process process;
static struct thread thread;
__thread struct thread *thread_self = &thread;

static struct {
    long number; /* of the call */
    uint64_t now;
    uint64_t pending;
    void *handler;    /* of all signals, in the kernel */
    bool read_only;   /* the program's memory */
    uint64_t timeout; /* of sockets, ns */
    int domain;
} sim;

static long get_option(long option, void *value)
{
    if (option == SO_DOMAIN)
        *(int *)value = sim.domain;
    else
        *(struct timeval *)value =
            (struct timeval){.tv_sec = (time_t)(sim.timeout / SECOND),
                             .tv_usec = (suseconds_t)(sim.timeout % SECOND / 1000)};
    return 0;
}

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_clock_gettime: *(struct timespec *)b = sys_timespec(sim.now); return 0;
    case SYS_rt_sigpending: *(uint64_t *)a = sim.pending; return 0;
    case SYS_rt_sigaction: ((struct sys_sigaction *)c)->handler = sim.handler; return 0;
    case SYS_getsockopt: return sim.domain ? get_option(c, (void *)d) : -ENOTSOCK;
    case SYS_futex: return sim.read_only ? -EFAULT : 0;
    default: return -ENOSYS;
    }
}

long call_number(const ucontext_t *context, struct memory *memory, struct rule_cache *rules)
{
    return sim.number;
}

void unwind_prepare(struct unwinder *u, const ucontext_t *its)
{
    memory_begin_sample(&u->memory, NULL);
}

static uint64_t cancelable; /* code address */

bool is_cancelable(uint64_t pc)
{
    return pc == cancelable;
}

/* ---- the program ---- */

static uint8_t code[] = {0x0f, 0x05, 0x90}; /* syscall; nop */
static uint64_t stack[64];
static ucontext_t context;
static greg_t *const reg = context.uc_mcontext.gregs;

#define AFTER    ((greg_t)(uintptr_t)(code + 2))
#define STACK_AT ((greg_t)(uintptr_t)(stack + 40))

STEP(begin)
{
    memset(&sim, 0, sizeof sim);
    memset(thread.calls, 0, sizeof thread.calls);
    memset(&context, 0, sizeof context);
    memset(&process, 0, sizeof process);
    sim.now = 1000 * (uint64_t)SECOND;
    process.signal = SAMPLES;
    thread.unwinder.memory = (struct memory){.own_low = (uint64_t)(uintptr_t)stack,
                                             .own_high = (uint64_t)(uintptr_t)(stack + 64)};
    code[2] = 0x90;
    call_ends((struct call_start){.at = 0});
    note_syscall(&(struct noted_syscall){.sp = 0});
    atomic_store(&restart_known_handlers, 0);
    leaves_rcx = false;
}

/* A sample at the exit of a call with these arguments. */
static bool may_be_canceled;

static void sample_at_exit(long number, long result, const long argument[6])
{
    sim.number = number;
    reg[REG_RDI] = argument[0];
    reg[REG_RSI] = argument[1];
    reg[REG_RDX] = argument[2];
    reg[REG_R10] = argument[3];
    reg[REG_R8] = argument[4];
    reg[REG_R9] = argument[5];
    reg[REG_R12] = 1212;
    reg[REG_RSP] = STACK_AT;
    reg[REG_RIP] = reg[REG_RCX] = AFTER;
    reg[REG_R11] = reg[REG_EFL] = 0x246;
    reg[REG_RAX] = result;
    may_be_canceled = ended_call_goes_on(&thread, &context);
}

#define SAMPLE(number, ...) sample_at_exit(number, -EINTR, (const long[6]){__VA_ARGS__})

/* The call was made again at `at`, and another sample has ended it. */
static void sample_again(long result)
{
    assert_true(reg[REG_RIP] == address(resumed_syscall) || reg[REG_RIP] == AFTER - 2);
    reg[REG_RIP] += 2;
    reg[REG_RAX] = result;
    ended_call_goes_on(&thread, &context);
}

static void assert_at_its_place(long number)
{
    assert_int_equal(reg[REG_RIP], AFTER - 2);
    assert_int_equal(reg[REG_RCX], AFTER);
    assert_int_equal(reg[REG_RAX], number);
    assert_int_equal(reg[REG_R12], 1212);
}

static struct resumed_call *assert_elsewhere(long number)
{
    struct resumed_call *resumed = (struct resumed_call *)reg[REG_R12];
    assert_int_equal(reg[REG_RIP], address(resumed_syscall));
    assert_int_equal(reg[REG_RCX], address(resumed_after));
    assert_int_equal(reg[REG_RAX], number);
    assert_true(is_call(resumed));
    assert_int_equal(resumed->pc, AFTER);
    assert_int_equal(resumed->sp, STACK_AT);
    assert_int_equal(resumed->r12, 1212);
    return resumed;
}

static void assert_ended(long result)
{
    assert_int_equal(reg[REG_RIP], AFTER);
    assert_int_equal(reg[REG_RAX], result);
}

static uint64_t time_at(greg_t at)
{
    return to_ns((const struct timespec *)at);
}

/* ---- which calls ---- */

TEST(a_call_without_timeout_is_made_again)
{
    SAMPLE(SYS_poll, 1, 2, -1);
    assert_at_its_place(SYS_poll);
    SAMPLE(SYS_epoll_pwait, 1, 2, 3, -1);
    assert_at_its_place(SYS_epoll_pwait);
    SAMPLE(SYS_semtimedop, 1, 2, 3, 0);
    assert_at_its_place(SYS_semtimedop);
    SAMPLE(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, 1);
    assert_at_its_place(SYS_clock_nanosleep);
    SAMPLE(SYS_futex, 1, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, 1);
    assert_at_its_place(SYS_futex);
    SAMPLE(SYS_ioctl, 1, TCSBRK, 1);
    assert_at_its_place(SYS_ioctl);
    SAMPLE(SYS_read, 1, 2, 3); /* no socket */
    assert_at_its_place(SYS_read);
    SAMPLE(SYS_io_uring_enter, 1, 0, 1, IORING_ENTER_GETEVENTS);
    assert_at_its_place(SYS_io_uring_enter);
}

TEST(other_calls_are_not)
{
    SAMPLE(-1);
    assert_ended(-EINTR);
    SAMPLE(SYS_close, 1);
    assert_ended(-EINTR);
    SAMPLE(SYS_open, 1);
    assert_ended(-EINTR);
    SAMPLE(SYS_futex, 1, FUTEX_LOCK_PI);
    assert_ended(-EINTR);
    SAMPLE(SYS_ioctl, 1, TIOCMIWAIT);
    assert_ended(-EINTR);
    sample_at_exit(SYS_poll, -EINVAL, (const long[6]){1, 2, -1});
    assert_ended(-EINVAL);
    sample_at_exit(SYS_write, 300, (const long[6]){1, 2, 1000});
    assert_ended(300);
}

/* Without a handler of ours, or after one of the program. */
TEST(a_call_that_the_program_has_ended_is_not)
{
    reg[REG_RIP] = reg[REG_RCX] = AFTER;
    reg[REG_R11] = reg[REG_EFL] = 0x246;
    reg[REG_RAX] = -EINTR;
    sim.number = SYS_pause;
    restart_before_handler(&context, true);
    assert_int_not_equal(reg[REG_RCX], reg[REG_RIP]);
    ended_call_goes_on(&thread, &context);
    assert_ended(-EINTR);
}

TEST(a_handler_of_the_program_ends_a_call_that_was_put_back)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        SAMPLE(SYS_poll, 1, 2, -1);
        restart_before_handler(&context, restarts);
        assert_ended(-EINTR);
        assert_int_not_equal(reg[REG_RCX], reg[REG_RIP]);
        SAMPLE(SYS_poll, 1, 2, 1000);
        restart_before_handler(&context, restarts);
        assert_int_equal(reg[REG_RIP], address(resumed_after));
        assert_int_equal(reg[REG_RAX], -EINTR);
        ended_call_goes_on(&thread, &context);
        assert_int_equal(reg[REG_RIP], address(resumed_after));
    }
}

TEST(a_pending_signal_with_another_handler_ends_it)
{
    sim.pending = sys_mask_bit(32) | sys_mask_bit(SIGUSR1);
    atomic_store(&restart_known_handlers, sys_mask_bit(SIGUSR1));
    sim.handler = code;
    SAMPLE(SYS_pause, 0);
    assert_ended(-EINTR);
    sim.handler = NULL; /* the default action, or ignored */
    SAMPLE(SYS_pause, 0);
    assert_at_its_place(SYS_pause);
    sim.handler = code;
    context.uc_sigmask.__val[0] = sys_mask_bit(32); /* the program blocks it */
    SAMPLE(SYS_pause, 0);
    assert_at_its_place(SYS_pause);
    context.uc_sigmask.__val[0] = 0;
    sim.pending = sys_mask_bit(SIGUSR1) | sys_mask_bit(SAMPLES);
    SAMPLE(SYS_pause, 0);
    assert_at_its_place(SYS_pause);
}

/* Its code may not show the number. */
TEST(the_hook_on_syscall_knows_the_number)
{
    note_syscall(&(struct noted_syscall){(uint64_t)STACK_AT, SYS_poll, 1, 2, -1});
    SAMPLE(-1, 1, 2, -1);
    assert_at_its_place(SYS_poll);
    SAMPLE(-1, 1, 2, 100); /* another call */
    assert_ended(-EINTR);
    SAMPLE(SYS_pause, 1, 2, -1); /* what the code says comes first */
    assert_at_its_place(SYS_pause);
}

/* The instruction does not change rcx there. */
TEST(with_fred_events_rcx_does_not_matter)
{
    sim.number = SYS_pause;
    reg[REG_RIP] = AFTER;
    reg[REG_RCX] = 5;
    reg[REG_R12] = 1212;
    reg[REG_RAX] = -EINTR;
    ended_call_goes_on(&thread, &context);
    assert_ended(-EINTR);
    leaves_rcx = true;
    ended_call_goes_on(&thread, &context);
    assert_at_its_place(SYS_pause);
}

/* ---- time ---- */

/* Never early: it counts from the first sample. */
TEST(a_wait_goes_on_for_the_rest_of_its_time)
{
    SAMPLE(SYS_poll, 1, 2, 1000);
    struct resumed_call *resumed = assert_elsewhere(SYS_poll);
    assert_int_equal(reg[REG_RDX], 1000);
    assert_int_equal(resumed->rdx, 1000);
    sim.now += 300 * MS + 1; /* rounded up */
    sample_again(-EINTR);
    assert_ptr_equal(assert_elsewhere(SYS_poll), resumed);
    assert_int_equal(reg[REG_RDX], 700);
    sim.now += 5000u * (uint64_t)MS;
    sample_again(-EINTR);
    assert_int_equal(reg[REG_RDX], 0);
}

TEST(the_begin_of_a_function_of_libc_is_known)
{
    stack[51] = 4711; /* the hook's return address, above its frame */
    call_begins(&stack[50], (void *)4711);
    sim.now += 300 * MS;
    SAMPLE(SYS_epoll_wait, 1, 2, 3, 1000);
    assert_int_equal(reg[REG_R10], 700);
    stack[51] = 4712; /* the function was left by longjmp */
    SAMPLE(SYS_epoll_wait, 1, 2, 3, 1000);
    assert_int_equal(reg[REG_R10], 1000);
    stack[51] = 4711;
    stack[31] = 4711;
    call_begins(&stack[30], (void *)4711); /* left, too: the frame is below */
    sim.now += 300 * MS;
    SAMPLE(SYS_epoll_wait, 1, 2, 3, 1000);
    assert_int_equal(reg[REG_R10], 1000);
}

TEST(the_programs_time_is_not_changed)
{
    static const struct timespec wanted = {.tv_sec = 2, .tv_nsec = 7};
    SAMPLE(SYS_epoll_pwait2, 1, 2, 3, SYS_ARG(&wanted));
    assert_elsewhere(SYS_epoll_pwait2);
    assert_ptr_not_equal(reg[REG_R10], &wanted);
    assert_int_equal(time_at(reg[REG_R10]), 2 * (uint64_t)SECOND + 7);
    sim.now += SECOND;
    sample_again(-EINTR);
    assert_int_equal(time_at(reg[REG_R10]), SECOND + 7);
    SAMPLE(SYS_futex, 1, FUTEX_WAIT_PRIVATE, 0, SYS_ARG(&wanted));
    assert_int_equal(time_at(reg[REG_R10]), 2 * (uint64_t)SECOND + 7);
    SAMPLE(SYS_rt_sigtimedwait, 1, 2, SYS_ARG(&wanted));
    assert_int_equal(time_at(reg[REG_RDX]), 2 * (uint64_t)SECOND + 7);
}

TEST(a_sleep_goes_on_for_what_the_kernel_says)
{
    static const struct timespec wanted = {.tv_sec = 2};
    struct timespec rest = {.tv_nsec = 300 * MS};
    SAMPLE(SYS_nanosleep, SYS_ARG(&wanted), SYS_ARG(&rest));
    assert_elsewhere(SYS_nanosleep);
    assert_int_equal(time_at(reg[REG_RDI]), 300 * MS);
    sim.now += 100 * MS;
    rest.tv_nsec = 777; /* the deadline counts: rests would add up their delays */
    sample_again(-EINTR);
    assert_int_equal(time_at(reg[REG_RDI]), 200 * MS);
    SAMPLE(SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, SYS_ARG(&wanted), 0);
    assert_int_equal(assert_elsewhere(SYS_clock_nanosleep)->clock, CLOCK_BOOTTIME);
    assert_int_equal(time_at(reg[REG_RDX]), 2 * (uint64_t)SECOND);
    SAMPLE(SYS_clock_nanosleep, CLOCK_REALTIME, 0, SYS_ARG(&wanted), 0);
    assert_int_equal(assert_elsewhere(SYS_clock_nanosleep)->clock, CLOCK_MONOTONIC);
}

TEST(a_time_that_the_kernel_counts_is_stored)
{
    struct timespec left = {.tv_sec = 1, .tv_nsec = 5};
    SAMPLE(SYS_ppoll, 1, 2, SYS_ARG(&left), 0);
    assert_ptr_equal(assert_elsewhere(SYS_ppoll)->stores, &left);
    assert_int_equal(time_at(reg[REG_RDX]), SECOND + 5);
    sim.now += SECOND / 2;
    sample_again(-EINTR);
    assert_int_equal(time_at(reg[REG_RDX]), SECOND / 2 + 5);
    struct timeval old = {.tv_sec = 1, .tv_usec = 500000};
    SAMPLE(SYS_select, 0, 0, 0, 0, SYS_ARG(&old));
    assert_ptr_equal(assert_elsewhere(SYS_select)->stores, &old);
    const struct timeval *now = (const struct timeval *)reg[REG_R8];
    assert_int_equal(now->tv_sec, 1);
    assert_int_equal(now->tv_usec, 500000);
    sim.read_only = true;
    SAMPLE(SYS_ppoll, 1, 2, SYS_ARG(&left), 0);
    assert_int_equal(assert_elsewhere(SYS_ppoll)->stores, 0);
}

TEST(a_sockets_time_is_kept)
{
    sim.domain = AF_INET;
    sim.timeout = 500 * MS;
    SAMPLE(SYS_recvfrom, 1, 2, 3);
    assert_elsewhere(SYS_recvfrom);
    sim.now += 499 * MS;
    sample_again(-EINTR);
    assert_elsewhere(SYS_recvfrom);
    sim.now += 1 * MS;
    sample_again(-EINTR);
    assert_int_equal(reg[REG_RIP], address(resumed_after));
    assert_int_equal(reg[REG_RAX], -EAGAIN);
    SAMPLE(SYS_connect, 1, 2, 3);
    sim.now += 500 * MS;
    sample_again(-EINTR);
    assert_int_equal(reg[REG_RAX], -EINPROGRESS);
    sim.domain = AF_UNIX;
    SAMPLE(SYS_connect, 1, 2, 3);
    sim.now += 500 * MS;
    sample_again(-EINTR);
    assert_int_equal(reg[REG_RAX], -EAGAIN);
    sim.timeout = 0;
    SAMPLE(SYS_recvfrom, 1, 2, 3);
    assert_at_its_place(SYS_recvfrom);
    process.restricted = true; /* the question may be forbidden */
    SAMPLE(SYS_recvfrom, 1, 2, 3);
    assert_ended(-EINTR);
}

/* ---- masks ---- */

TEST(signals_that_only_the_call_blocks_stay_blocked)
{
    uint64_t usr1 = sys_mask_bit(SIGUSR1), usr2 = sys_mask_bit(SIGUSR2), mask = usr1;
    context.uc_sigmask.__val[0] = usr1 | usr2;
    SAMPLE(SYS_rt_sigsuspend, SYS_ARG(&mask), 8); /* the usual case: it blocks less */
    assert_at_its_place(SYS_rt_sigsuspend);
    context.uc_sigmask.__val[0] = usr2;
    mask = ~(uint64_t)0;
    SAMPLE(SYS_rt_sigsuspend, SYS_ARG(&mask), 8);
    struct resumed_call *resumed = assert_elsewhere(SYS_rt_sigsuspend);
    assert_true(resumed->sets_mask);
    assert_int_equal(resumed->mask, usr2);
    assert_true(context.uc_sigmask.__val[0] & usr1);
    for (const int *signal = (int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE, 32, 33, SAMPLES, 0}; *signal;
         signal++)
        assert_false(context.uc_sigmask.__val[0] & sys_mask_bit(*signal));
    uint64_t pair[2] = {(uint64_t)(uintptr_t)&mask, 8};
    context.uc_sigmask.__val[0] = 0;
    mask = usr1;
    SAMPLE(SYS_pselect6, 0, 0, 0, 0, 0, SYS_ARG(pair));
    assert_elsewhere(SYS_pselect6);
    assert_int_equal(context.uc_sigmask.__val[0], usr1);
}

/* Else it would never get on: it begins from the start after each sample. */
TEST(samples_wait_for_a_call_that_loses_its_work)
{
    SAMPLE(SYS_fallocate, 1, 0, 0, 1 << 20);
    assert_int_equal(assert_elsewhere(SYS_fallocate)->mask, 0);
    assert_int_equal(context.uc_sigmask.__val[0], sys_mask_bit(SAMPLES));
}

/* ---- parts ---- */

TEST(what_was_submitted_is_not_submitted_again)
{
    const long wait = IORING_ENTER_GETEVENTS;
    sample_at_exit(SYS_io_uring_enter, 3, (const long[6]){9, 3, 2, wait});
    struct resumed_call *resumed = assert_elsewhere(SYS_io_uring_enter);
    assert_int_equal(resumed->done, 3);
    assert_int_equal(reg[REG_RSI], 0);
    assert_int_equal(reg[REG_RDX], 2);
    assert_int_equal(resumed->rsi, 3);
    sample_again(0);
    assert_int_equal(assert_elsewhere(SYS_io_uring_enter)->done, 3);
    sample_at_exit(SYS_io_uring_enter, 0, (const long[6]){9, 0, 2, wait}); /* one has come */
    assert_at_its_place(SYS_io_uring_enter);
    restart_before_handler(&context, false);
    assert_ended(0);
    sample_at_exit(SYS_io_uring_enter, 2, (const long[6]){9, 3, 2, wait}); /* an error: no wait */
    assert_ended(2);
    sample_at_exit(SYS_io_uring_enter, 3, (const long[6]){9, 3, 0, wait});
    assert_ended(3);
    sample_at_exit(SYS_io_uring_enter, 3, (const long[6]){9, 3, 2, 0});
    assert_ended(3);
}

TEST(the_time_of_a_ring_is_in_its_argument)
{
    const long flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    struct timespec time = {.tv_sec = 3};
    uint64_t mask = 0;
    struct io_uring_getevents_arg argument = {
        .sigmask = (uint64_t)(uintptr_t)&mask, .sigmask_sz = 8, .ts = (uint64_t)(uintptr_t)&time};
    SAMPLE(SYS_io_uring_enter, 9, 0, 1, flags, SYS_ARG(&argument), sizeof argument);
    struct resumed_call *resumed = assert_elsewhere(SYS_io_uring_enter);
    sim.now += SECOND;
    sample_again(-EINTR);
    const struct io_uring_getevents_arg *now = (const struct io_uring_getevents_arg *)reg[REG_R8];
    assert_ptr_equal(now, &resumed->extended);
    assert_int_equal(now->sigmask, argument.sigmask);
    assert_int_equal(time_at((greg_t)now->ts), 2 * (uint64_t)SECOND);
    SAMPLE(SYS_io_uring_enter, 9, 0, 1, flags | IORING_ENTER_ABS_TIMER, SYS_ARG(&argument),
           sizeof argument);
    assert_at_its_place(SYS_io_uring_enter);
}

/* The rest must fit into what is left of the program's array. */
TEST(events_go_on_behind_those_that_have_come)
{
    struct io_event events[8];
    sample_at_exit(SYS_io_getevents, 2, (const long[6]){9, 5, 7, SYS_ARG(events), 0});
    struct resumed_call *resumed = assert_elsewhere(SYS_io_getevents);
    assert_int_equal(resumed->done, 2);
    assert_int_equal(reg[REG_RSI], 3);
    assert_int_equal(reg[REG_RDX], 5);
    assert_ptr_equal(reg[REG_R10], events + 2);
    sample_again(1);
    assert_int_equal(assert_elsewhere(SYS_io_getevents)->done, 3);
    assert_int_equal(reg[REG_RSI], 2);
    assert_int_equal(reg[REG_RDX], 4);
    assert_ptr_equal(reg[REG_R10], events + 3);
    sample_at_exit(SYS_io_getevents, 5, (const long[6]){9, 5, 7, SYS_ARG(events), 0});
    assert_ended(5);
}

/* ---- places ---- */

/* glibc looks for the thread at its own instruction before it cancels it. */
TEST(before_a_return_the_call_stays_at_its_place)
{
    code[2] = RET;
    stack[40] = 5555; /* the return address */
    SAMPLE(SYS_poll, 1, 2, 1000);
    struct resumed_call *resumed = (struct resumed_call *)reg[REG_R12];
    assert_true(is_call(resumed));
    assert_int_equal(reg[REG_RIP], AFTER - 2);
    assert_int_equal(reg[REG_RCX], AFTER);
    assert_int_equal(reg[REG_RAX], SYS_poll);
    assert_int_equal(reg[REG_RSP], (greg_t)(uintptr_t)(stack + 40) - RED_ZONE - 8);
    assert_int_equal(*(uint64_t *)reg[REG_RSP], address(resumed_after));
    assert_int_equal(resumed->pc, 5555);
    assert_int_equal(resumed->sp, (uint64_t)STACK_AT + 8);
    sim.now += 400 * MS;
    sample_again(-EINTR);
    assert_ptr_equal(reg[REG_R12], resumed);
    assert_int_equal(reg[REG_RIP], AFTER - 2);
    assert_int_equal(reg[REG_RSP], (greg_t)(uintptr_t)(stack + 40) - RED_ZONE - 8);
    assert_int_equal(reg[REG_RDX], 600);
    has_shadow_stack = true; /* allows no such return */
    SAMPLE(SYS_poll, 1, 2, 1000);
    assert_elsewhere(SYS_poll);
    has_shadow_stack = false;
    sim.read_only = true; /* the stack has no more room */
    SAMPLE(SYS_poll, 1, 2, 1000);
    assert_elsewhere(SYS_poll);
}

TEST(a_thread_in_libcs_call_may_be_canceled)
{
    SAMPLE(SYS_poll, 1, 2, -1);
    assert_false(may_be_canceled);
    cancelable = (uint64_t)AFTER;
    SAMPLE(SYS_poll, 1, 2, -1);
    assert_true(may_be_canceled);
    SAMPLE(SYS_poll, 1, 2, 1000);
    assert_true(may_be_canceled);
    SAMPLE(-1, 1, 2, 1000); /* it has ended */
    assert_false(may_be_canceled);
    cancelable = 0;
}

/* In handlers that interrupt each other. */
TEST(several_calls_go_on_at_once)
{
    struct resumed_call *all[RESUMED];
    for (int i = 0; i < RESUMED; i++) {
        SAMPLE(SYS_poll, 1, 2, 1000 + i);
        all[i] = assert_elsewhere(SYS_poll);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(all[i], all[j]);
    }
    all[0]->in_use = 0; /* it has ended */
    SAMPLE(SYS_poll, 1, 2, 1000);
    assert_ptr_equal(assert_elsewhere(SYS_poll), all[0]);
    SAMPLE(SYS_poll, 1, 2, 1000); /* none is free: the oldest was left by longjmp */
    assert_ptr_equal(assert_elsewhere(SYS_poll), all[1]);
}

EACH_TEST(begin, NULL);
