/* Actions of signals: the program sets them, sees them and gets its handlers called as if hpcrun did
 * not exist. */
#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/process/process.h"
#include "hpcrun/thread/thread.h"

#include <unistd.h>

/* ---- actions ---- */

/* The kernel has ours, the program sees its own. */
TEST(the_program_sees_the_actions_that_it_set)
{
    begin_test();
    for (int signal = 1; signal < SIGRTMIN; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33)
            continue;
        struct sigaction before,
            action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigaddset(&action.sa_mask, SIGUSR2);
        sigaddset(&action.sa_mask, OURS);
        assert_ptr_equal(action_of(signal).sa_handler, SIG_DFL);
        assert_int_equal(sigaction(signal, &action, &before), 0);
        assert_ptr_equal(before.sa_handler, SIG_DFL);
        struct sigaction now = action_of(signal);
        assert_ptr_equal(now.sa_sigaction, on_info);
        assert_int_equal(now.sa_flags, SA_SIGINFO | SA_RESTART);
        assert_int_equal(now.sa_mask.__val[0], sys_mask_bit(SIGUSR2) | sys_mask_bit(OURS));
        assert_int_equal(kernel_action(signal).mask, sys_mask_bit(SIGUSR2));
        set_action(signal, SIG_IGN, 0);
        assert_ptr_equal(action_of(signal).sa_handler, SIG_IGN);
        if (signal != SIGSEGV && signal != SIGBUS)
            assert_ptr_equal(kernel_action(signal).handler, SIG_IGN);
        set_action(signal, SIG_DFL, 0);
    }
}

TEST(bad_signals_are_refused)
{
    begin_test();
    static const int bad[] = {-1, 0, SIGKILL, SIGSTOP, 32, 33, 65, 1000};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        assert_int_equal(sigaction(bad[i], &ignore, NULL), -1);
        assert_int_equal(errno, EINVAL);
    }
}

TEST(a_handler_gets_what_the_kernel_gives)
{
    begin_test();
    struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    unsigned counted = thread_program_handlers;
    errno = 77;
    send_signal(SIGUSR1, SI_QUEUE);
    assert_int_equal(errno, 77);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.signal, SIGUSR1);
    assert_int_equal(seen.value, 4711);
    assert_true(seen.has_context);
    assert_true(seen.mask & sys_mask_bit(SIGUSR2)); /* its own mask */
    assert_false(seen.mask & sys_mask_bit(OURS));
    assert_int_equal(thread_program_handlers, counted + 1);
    assert_int_equal(kernel_mask(), 0);
}

TEST(flags_of_an_action_have_their_effect)
{
    begin_test();
    set_action(SIGUSR1, on_signal, 0);
    raise(SIGUSR1);
    assert_int_equal(seen.mask, sys_mask_bit(SIGUSR1));
    set_action(SIGUSR1, on_signal, SA_NODEFER | SA_RESETHAND);
    raise(SIGUSR1);
    assert_int_equal(seen.calls, 2);
    assert_int_equal(seen.mask, 0);
    assert_ptr_equal(action_of(SIGUSR1).sa_handler, SIG_DFL);
    set_action(SIGSEGV, on_signal, SA_RESETHAND);
    raise(SIGSEGV);
    assert_int_equal(seen.calls, 3);
    assert_ptr_equal(kernel_action(SIGSEGV).handler, signals_fault_handler());
    assert_ptr_equal(action_of(SIGSEGV).sa_handler, SIG_DFL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(the_old_functions_set_what_they_say)
{
    begin_test();
    assert_ptr_equal(signal(SIGUSR1, on_signal), SIG_DFL);
    assert_int_equal(action_of(SIGUSR1).sa_flags, SA_RESTART);
    assert_int_equal(action_of(SIGUSR1).sa_mask.__val[0], sys_mask_bit(SIGUSR1));
    assert_ptr_equal(signal(SIGUSR1, SIG_IGN), on_signal);
    errno = 0;
    assert_ptr_equal(signal(SIGUSR1, SIG_ERR), SIG_ERR);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(siginterrupt(SIGUSR1, 1), 0);
    signal(SIGUSR1, on_signal);
    assert_int_equal(action_of(SIGUSR1).sa_flags, 0);
    assert_int_equal(siginterrupt(SIGUSR1, 0), 0);
    assert_int_equal(action_of(SIGUSR1).sa_flags, SA_RESTART);
    assert_ptr_equal(sysv_signal(SIGUSR1, on_signal), on_signal);
    assert_int_equal((unsigned)action_of(SIGUSR1).sa_flags,
                     SA_RESETHAND | SA_NODEFER | SA_INTERRUPT);
    assert_int_equal(sigignore(SIGUSR1), 0);
    assert_ptr_equal(action_of(SIGUSR1).sa_handler, SIG_IGN);
    assert_ptr_equal(sigset(SIGUSR1, SIG_HOLD), SIG_IGN);
    assert_int_equal(kernel_mask(), sys_mask_bit(SIGUSR1));
    assert_ptr_equal(sigset(SIGUSR1, on_signal), SIG_HOLD);
    assert_int_equal(kernel_mask(), 0);
    assert_ptr_equal(sigset(SIGUSR1, SIG_DFL), on_signal);
}

#pragma GCC diagnostic pop

/* Its actions are its own, but it shares our memory: there they must stay those of the parent. */
TEST(a_vfork_child_changes_its_own_actions_only)
{
    begin_test();
    struct sigaction before;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    set_action(SIGUSR1, on_signal, 0);
    struct sys_sigaction kernel = kernel_action(SIGUSR1);
    process.pid = getpid() + 1;
    assert_int_equal(sigaction(SIGUSR1, &ignore, &before), 0);
    assert_ptr_equal(before.sa_handler, on_signal);
    assert_ptr_equal(kernel_action(SIGUSR1).handler, SIG_IGN);
    process.pid = getpid();
    assert_ptr_equal(action_of(SIGUSR1).sa_handler, on_signal);
    sys_sigaction(SIGUSR1, &kernel, NULL);
    raise(SIGUSR1);
    assert_int_equal(seen.calls, 1);
}

/* ---- the end ---- */

static void give_back(void)
{
    set_action(SIGUSR1, on_signal, SA_RESTART);
    set_action(SIGSEGV, on_signal, 0);
    signals_give_back();
    if (kernel_action(SIGUSR1).handler != (void *)on_signal ||
        kernel_action(SIGSEGV).handler != (void *)on_signal ||
        kernel_action(SIGTERM).handler != SIG_DFL || kernel_action(OURS).handler != SIG_IGN)
        _exit(1);
    set_action(SIGTERM, on_signal, 0);
    _exit(kernel_action(SIGTERM).handler == (void *)on_signal ? 0 : 2);
}

TEST(the_program_gets_its_actions_back)
{
    begin_test();
    assert_goes_on(give_back);
}

ALL_TESTS(take_signals, NULL);
