/* Masks of the program and the sampling signal: samples come in spite of every mask, and the program
 * may use the signal as if there were no samples. */
#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/process/process.h"
#include "hpcrun/thread/thread.h"

#include <sys/signalfd.h>
#include <unistd.h>

/* ---- masks ---- */

TEST(no_mask_keeps_samples_out)
{
    begin_test();
    const uint64_t unblockable = sys_mask_bit(SIGKILL) | sys_mask_bit(SIGSTOP) | sys_mask_bit(32) |
                                 sys_mask_bit(33); /* libc never blocks the latter two */
    sigset_t all, before;
    sigfillset(&all);
    assert_int_equal(sigprocmask(SIG_SETMASK, &all, &before), 0);
    assert_true(sigisemptyset(&before));
    assert_int_equal(kernel_mask() | unblockable, ~sys_mask_bit(OURS));
    sys_mask(SIG_SETMASK, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
    assert_int_equal(kernel_mask() | unblockable, ~sys_mask_bit(OURS));
    assert_true(sigismember(&all, OURS)); /* the program's set is left as it is */
    send_signal(OURS, SI_TIMER);
    assert_int_equal(samples, 1);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(kernel_mask(), 0);
}

TEST(other_signals_are_masked_as_asked)
{
    begin_test();
    sigset_t one, now;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    assert_int_equal(sigprocmask(SIG_BLOCK, &one, NULL), 0);
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &now), 0);
    assert_int_equal(kernel_mask(), sys_mask_bit(SIGUSR1));
    assert_true(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
    assert_int_equal(kernel_mask(), 0);
}

/* A handler that ends the process, or one of the program, would find the thread's tree half
 * changed. Faults come: guarded reads need them. */
TEST(a_sample_is_interrupted_by_faults_only)
{
    begin_test();
    send_signal(OURS, SI_TIMER);
    const uint64_t open = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS) | sys_mask_bit(SIGKILL) |
                          sys_mask_bit(SIGSTOP);
    assert_int_equal(mask_in_sample, ~open);
    assert_int_equal(kernel_mask(), 0);
}

TEST(a_signalfd_gets_no_samples)
{
    begin_test();
    char path[64], line[256], wanted[32];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, OURS);
    sigaddset(&set, SIGUSR1);
    int fd = signalfd(-1, &set, 0);
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    snprintf(wanted, sizeof wanted, "sigmask:\t%016x\n", 1 << (SIGUSR1 - 1));
    FILE *file = fopen(path, "r");
    bool found = false;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        found |= strcmp(line, wanted) == 0;
    assert_true(found);
    fclose(file);
    close(fd);
}

/* ---- the sampling signal ---- */

static void send_ours(void)
{
    send_signal(OURS, SI_QUEUE);
}

static void send_late(void)
{
    send_signal(OURS, SI_MESGQ); /* not from a process */
}

TEST(the_program_may_use_our_signal)
{
    begin_test();
    void *kernel = kernel_action(OURS).handler;
    struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(OURS, &action, NULL), 0);
    assert_ptr_equal(kernel_action(OURS).handler, kernel);
    send_signal(OURS, SI_TIMER);
    assert_int_equal(seen.calls, 0);
    send_signal(OURS, SI_QUEUE);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.value, 4711);
    assert_int_equal(samples, 1);
    set_action(OURS, SIG_IGN, 0);
    assert_goes_on(send_ours);
    set_action(OURS, SIG_DFL, 0);
    assert_ends_by(send_ours, OURS);
    assert_goes_on(send_late); /* a sample of a source that is closed */
}

static void choose(void)
{
    signals_give_back(); /* it is chosen before the other signals are ours */
    if (signals_choose() != SIGRTMAX - 1)
        _exit(1);
    signal(SIGRTMAX - 1, on_signal);
    signal(SIGRTMAX - 2, SIG_IGN);
    _exit(signals_choose() == SIGRTMAX - 4 ? 0 : 2); /* OURS is still taken */
}

TEST(the_highest_free_signal_is_chosen)
{
    begin_test();
    assert_goes_on(choose);
}

/* ---- in a sample ---- */

static struct thread thread;
static int calls_in_sample;

static void be_sent_a_fault(void)
{
    atomic_store(&thread.busy, true);
    raise(SIGSEGV);
    calls_in_sample = seen.calls;
    atomic_store(&thread.busy, false);
}

TEST(a_fault_that_is_sent_waits_for_the_end_of_a_sample)
{
    begin_test();
    thread_self = &thread;
    set_action(SIGSEGV, on_signal, 0);
    during_sample = be_sent_a_fault;
    send_signal(OURS, SI_TIMER);
    assert_int_equal(calls_in_sample, 0);
    assert_int_equal(seen.calls, 1);
}

static void signal_in_handler(int number)
{
    on_signal(number);
    send_signal(OURS, SI_TIMER);
    raise(SIGUSR2);
}

TEST(a_handler_can_be_sampled_and_interrupted)
{
    begin_test();
    set_action(SIGUSR1, signal_in_handler, 0);
    set_action(SIGUSR2, on_signal, 0);
    raise(SIGUSR1);
    assert_int_equal(samples, 1);
    assert_int_equal(seen.calls, 2);
}

ALL_TESTS(take_signals, NULL);
