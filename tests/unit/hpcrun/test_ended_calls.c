/* Which system calls go on that a sample has ended, and where: the registers with which the thread goes on. */
#include "tests/unit/hpcrun/sampled_call.h"

/* ---- which calls ---- */

TEST(a_call_without_timeout_is_made_again)
{
    PUT_BACK(SYS_poll, 1, 2, -1);
    PUT_BACK(SYS_epoll_pwait, 1, 2, 3, -1);
    PUT_BACK(SYS_semtimedop, 1, 2, 3, 0);
    PUT_BACK(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, 1);
    PUT_BACK(SYS_futex, 1, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, 1);
    PUT_BACK(SYS_ioctl, 1, TCSBRK, 1);
    PUT_BACK(SYS_io_uring_enter, 1, 0, 1, IORING_ENTER_GETEVENTS);
}

TEST(other_calls_are_not)
{
    ENDED(-1);
    ENDED(SYS_close, 1);
    ENDED(SYS_splice, 1);
    ENDED(SYS_futex, 1, FUTEX_LOCK_PI);
    ENDED(SYS_ioctl, 1, TIOCMIWAIT);
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
    ENDED(SYS_pause, 0);
    sim.handler = NULL; /* the default action, or ignored */
    PUT_BACK(SYS_pause, 0);
    sim.handler = code;
    context.uc_sigmask.__val[0] = sys_mask_bit(32); /* the program blocks it */
    PUT_BACK(SYS_pause, 0);
    context.uc_sigmask.__val[0] = 0;
    sim.pending = sys_mask_bit(SIGUSR1) | sys_mask_bit(SAMPLES);
    PUT_BACK(SYS_pause, 0);
}

/* Its code may not show the number. */
TEST(the_hook_on_syscall_knows_the_number)
{
    note_syscall(&(struct noted_syscall){(uint64_t)STACK_AT, SYS_poll, 1, 2, -1});
    SAMPLE(-1, 1, 2, -1);
    assert_at_its_place(SYS_poll);
    ENDED(-1, 1, 2, 100); /* another call */
    PUT_BACK(SYS_pause, 1, 2, -1); /* what the code says comes first */
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

/* ---- masks ---- */

TEST(signals_that_only_the_call_blocks_stay_blocked)
{
    uint64_t usr1 = sys_mask_bit(SIGUSR1), usr2 = sys_mask_bit(SIGUSR2), mask = usr1;
    context.uc_sigmask.__val[0] = usr1 | usr2;
    PUT_BACK(SYS_rt_sigsuspend, SYS_ARG(&mask), 8); /* the usual case: it blocks less */
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

/* The kernel restarts these calls, but for such a file system. */
TEST(samples_wait_for_a_file_system_in_user_space)
{
    static const long numbers[] = {SYS_read, SYS_write, SYS_openat, SYS_newfstatat};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        context.uc_sigmask.__val[0] = 0;
        SAMPLE(numbers[i], 1, 2, 3);
        assert_elsewhere(numbers[i]);
        assert_int_equal(context.uc_sigmask.__val[0], sys_mask_bit(SAMPLES));
    }
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
