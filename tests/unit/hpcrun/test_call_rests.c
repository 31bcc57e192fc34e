/* What is left of a system call that a sample has ended: the rest of its time, and of what it moves. */
#include "tests/unit/hpcrun/sampled_call.h"

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
    assert_int_equal(assert_elsewhere(SYS_recvfrom)->deadline, 0);
    process.restricted = true; /* the question may be forbidden */
    ENDED(SYS_recvfrom, 1, 2, 3);
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
    PUT_BACK(SYS_io_uring_enter, 9, 0, 1, flags | IORING_ENTER_ABS_TIMER, SYS_ARG(&argument),
           sizeof argument);
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

EACH_TEST(begin, NULL);
