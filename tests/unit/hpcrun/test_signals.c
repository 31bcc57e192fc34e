/* The program's signals, on the real kernel: actions, masks and handlers are for the program as if
 * hpcrun did not exist; samples come in spite of every mask; what was measured is written before a
 * signal ends the process. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/hooks/signals.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/handler.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define OURS (SIGRTMAX - 3) /* the sampling signal */

struct process process;
struct sampling sampling;
__thread struct thread *thread_self;
__thread unsigned thread_samples_handled, thread_program_handlers;

/* Also changed by children. */
static struct shared {
    unsigned ends; /* calls of process_end */
    enum process_state state;
    int detail;
    uint64_t mask; /* at the first of them */
} * shared;

static unsigned samples, lost_samples;
static uint64_t mask_in_sample;
static void (*during_sample)(void);

static uint64_t kernel_mask(void)
{
    return sys_mask(SIG_BLOCK, 0);
}

/* ---- stubs for signals.c ---- */

/* A sample is a signal from a timer. */
bool handler_on_signal(const siginfo_t *info, const void *context)
{
    assert_non_null(context);
    if (info->si_code != SI_TIMER)
        return false;
    samples++;
    mask_in_sample = kernel_mask();
    if (during_sample)
        during_sample();
    return true;
}

bool handler_take_lost(int signal, const siginfo_t *info, const void *context)
{
    (void)context;
    bool is_lost = signal == SIGIO && info->si_code == SI_QUEUE;
    lost_samples += is_lost;
    return is_lost;
}

bool process_end(enum process_state state, int detail)
{
    if (shared->ends++ == 0) {
        shared->state = state;
        shared->detail = detail;
        shared->mask = kernel_mask();
    }
    return true;
}

/* ---- signals ---- */

static long send(int signal, int code)
{
    siginfo_t info = {.si_signo = signal, .si_code = code};
    info.si_value.sival_int = 4711;
    return sys4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signal, &info);
}

static struct sys_sigaction kernel_action(int signal)
{
    struct sys_sigaction now;
    assert_int_equal(sys_sigaction(signal, NULL, &now), 0);
    return now;
}

static struct sigaction action_of(int signal)
{
    struct sigaction now;
    assert_int_equal(sigaction(signal, NULL, &now), 0);
    return now;
}

/* What a handler of the program saw. volatile: raise is declared as if it called nothing here. */
static volatile struct seen {
    int calls, signal, value;
    uint64_t mask;
    bool has_context;
} seen;

static void on_signal(int signal)
{
    seen.calls++;
    seen.signal = signal;
    seen.mask = kernel_mask();
}

static void on_info(int signal, siginfo_t *info, void *context)
{
    on_signal(signal);
    seen.value = info->si_value.sival_int;
    seen.has_context = context != NULL;
}

static void set(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    assert_int_equal(sigaction(signal, &action, NULL), 0);
}

/* Called by each test itself: cmocka sets handlers of its own before it. */
static void begin(void)
{
    seen = (struct seen){0};
    samples = lost_samples = 0;
    *shared = (struct shared){0};
    sys_mask(SIG_SETMASK, 0);
    for (int signal = 1; signal < SIGRTMIN + 4; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && (signal < 32 || signal >= SIGRTMIN))
            set(signal, SIG_DFL, 0);
    set(OURS, SIG_DFL, 0);
    thread_self = NULL;
    during_sample = NULL;
}

/* The status of a child that calls a function and exits. */
static int status_of(void (*function)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        process.pid = getpid();
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_ends_by(void (*function)(void), int signal)
{
    *shared = (struct shared){0};
    int status = status_of(function);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
    assert_int_equal(shared->ends, 1);
    assert_int_equal(shared->state, PROCESS_SIGNAL);
    assert_int_equal(shared->detail, signal);
}

static void assert_goes_on(void (*function)(void))
{
    *shared = (struct shared){0};
    int status = status_of(function);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(shared->ends, 0);
}

/* ---- masks ---- */

static void no_mask_keeps_samples_out(void **state)
{
    (void)state;
    begin();
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
    send(OURS, SI_TIMER);
    assert_int_equal(samples, 1);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(kernel_mask(), 0);
}

static void other_signals_are_masked_as_asked(void **state)
{
    (void)state;
    begin();
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
static void a_sample_is_interrupted_by_faults_only(void **state)
{
    (void)state;
    begin();
    send(OURS, SI_TIMER);
    const uint64_t open = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS) | sys_mask_bit(SIGKILL) |
                          sys_mask_bit(SIGSTOP);
    assert_int_equal(mask_in_sample, ~open);
    assert_int_equal(kernel_mask(), 0);
}

static void a_signalfd_gets_no_samples(void **state)
{
    (void)state;
    begin();
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

/* ---- actions ---- */

/* The kernel has ours, the program sees its own. */
static void the_program_sees_the_actions_that_it_set(void **state)
{
    (void)state;
    begin();
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
        set(signal, SIG_IGN, 0);
        assert_ptr_equal(action_of(signal).sa_handler, SIG_IGN);
        if (signal != SIGSEGV && signal != SIGBUS)
            assert_ptr_equal(kernel_action(signal).handler, SIG_IGN);
        set(signal, SIG_DFL, 0);
    }
}

static void bad_signals_are_refused(void **state)
{
    (void)state;
    begin();
    static const int bad[] = {-1, 0, SIGKILL, SIGSTOP, 32, 33, 65, 1000};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        assert_int_equal(sigaction(bad[i], &ignore, NULL), -1);
        assert_int_equal(errno, EINVAL);
    }
}

static void a_handler_gets_what_the_kernel_gives(void **state)
{
    (void)state;
    begin();
    struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    unsigned counted = thread_program_handlers;
    errno = 77;
    send(SIGUSR1, SI_QUEUE);
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

static void flags_of_an_action_have_their_effect(void **state)
{
    (void)state;
    begin();
    set(SIGUSR1, on_signal, 0);
    raise(SIGUSR1);
    assert_int_equal(seen.mask, sys_mask_bit(SIGUSR1));
    set(SIGUSR1, on_signal, SA_NODEFER | SA_RESETHAND);
    raise(SIGUSR1);
    assert_int_equal(seen.calls, 2);
    assert_int_equal(seen.mask, 0);
    assert_ptr_equal(action_of(SIGUSR1).sa_handler, SIG_DFL);
    set(SIGSEGV, on_signal, SA_RESETHAND);
    raise(SIGSEGV);
    assert_int_equal(seen.calls, 3);
    assert_ptr_equal(kernel_action(SIGSEGV).handler, signals_fault_handler());
    assert_ptr_equal(action_of(SIGSEGV).sa_handler, SIG_DFL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void the_old_functions_set_what_they_say(void **state)
{
    (void)state;
    begin();
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
static void a_vfork_child_changes_its_own_actions_only(void **state)
{
    (void)state;
    begin();
    struct sigaction before;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    set(SIGUSR1, on_signal, 0);
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

/* ---- the sampling signal ---- */

static void send_ours(void)
{
    send(OURS, SI_QUEUE);
}

static void send_late(void)
{
    send(OURS, SI_MESGQ); /* not from a process */
}

static void the_program_may_use_our_signal(void **state)
{
    (void)state;
    begin();
    void *kernel = kernel_action(OURS).handler;
    struct sigaction action = {.sa_sigaction = on_info, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(OURS, &action, NULL), 0);
    assert_ptr_equal(kernel_action(OURS).handler, kernel);
    send(OURS, SI_TIMER);
    assert_int_equal(seen.calls, 0);
    send(OURS, SI_QUEUE);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.value, 4711);
    assert_int_equal(samples, 1);
    set(OURS, SIG_IGN, 0);
    assert_goes_on(send_ours);
    set(OURS, SIG_DFL, 0);
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

static void the_highest_free_signal_is_chosen(void **state)
{
    (void)state;
    begin();
    assert_goes_on(choose);
}

/* ---- signals that end the process ---- */

static void raise_term(void)
{
    raise(SIGTERM);
}

static void raise_child(void)
{
    raise(SIGCHLD);
    raise(SIGURG);
    raise(SIGWINCH);
    raise(SIGCONT);
}

static void lose_sample(void)
{
    send(SIGIO, SI_QUEUE);
}

static void divide(void)
{
    volatile int ten = 10, zero = 0;
    ten = ten / zero;
}

static void touch_null(void)
{
    static int *volatile nowhere;
    *nowhere = 1;
}

static void raise_segv(void)
{
    raise(SIGSEGV);
}

static void what_was_measured_is_written_first(void **state)
{
    (void)state;
    begin();
    assert_ends_by(raise_term, SIGTERM);
    const uint64_t never = sys_mask_bit(SIGKILL) | sys_mask_bit(SIGSTOP);
    assert_int_equal(shared->mask, ~never); /* no second signal ends it meanwhile */
    assert_ends_by(divide, SIGFPE);
    assert_ends_by(touch_null, SIGSEGV);
    assert_ends_by(raise_segv, SIGSEGV);
    assert_goes_on(raise_child);
    assert_goes_on(lose_sample);
    set(SIGTERM, SIG_IGN, 0);
    assert_goes_on(raise_term);
    set(SIGSEGV, SIG_IGN, 0);
    assert_goes_on(raise_segv);
    assert_ends_by(touch_null, SIGSEGV); /* it can't be ignored */
}

static sigjmp_buf from_handler;

static void leap(int signal)
{
    on_signal(signal);
    siglongjmp(from_handler, 1);
}

static void a_fault_of_the_program_is_its_own(void **state)
{
    (void)state;
    begin();
    set(SIGSEGV, leap, 0);
    if (sigsetjmp(from_handler, 1) == 0)
        touch_null();
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.signal, SIGSEGV);
}

static void a_fault_of_ours_is_not(void **state)
{
    (void)state;
    begin();
    uint64_t value;
    set(SIGSEGV, on_signal, 0);
    assert_ptr_equal(kernel_action(SIGSEGV).handler, signals_fault_handler());
    assert_false(guard_load(8, &value));
    assert_int_equal(seen.calls, 0);
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

static void a_fault_that_is_sent_waits_for_the_end_of_a_sample(void **state)
{
    (void)state;
    begin();
    thread_self = &thread;
    set(SIGSEGV, on_signal, 0);
    during_sample = be_sent_a_fault;
    send(OURS, SI_TIMER);
    assert_int_equal(calls_in_sample, 0);
    assert_int_equal(seen.calls, 1);
}

static void signal_in_handler(int number)
{
    on_signal(number);
    send(OURS, SI_TIMER);
    raise(SIGUSR2);
}

static void a_handler_can_be_sampled_and_interrupted(void **state)
{
    (void)state;
    begin();
    set(SIGUSR1, signal_in_handler, 0);
    set(SIGUSR2, on_signal, 0);
    raise(SIGUSR1);
    assert_int_equal(samples, 1);
    assert_int_equal(seen.calls, 2);
}

/* ---- signal stacks ---- */

static char stack[8192];

static void use_small_stack(void)
{
    const stack_t small = {.ss_sp = stack, .ss_size = sizeof stack};
    set(SIGUSR1, on_signal, SA_ONSTACK);
    set(SIGUSR2, on_signal, 0);
    sigaltstack(&small, NULL);
    raise(SIGUSR1);
    if (!(seen.mask & sys_mask_bit(OURS)))
        _exit(1);
    raise(SIGUSR2);
    if (seen.mask & sys_mask_bit(OURS))
        _exit(2);
    set(SIGHUP, on_signal, SA_ONSTACK);
    raise(SIGHUP);
    if (!(seen.mask & sys_mask_bit(OURS)))
        _exit(3);
    _exit(action_of(SIGHUP).sa_mask.__val[0] == 0 ? 0 : 4);
}

static void a_small_signal_stack_is_left_to_the_program(void **state)
{
    (void)state;
    begin();
    assert_goes_on(use_small_stack);
}

/* ---- the end ---- */

static void give_back(void)
{
    set(SIGUSR1, on_signal, SA_RESTART);
    set(SIGSEGV, on_signal, 0);
    signals_give_back();
    if (kernel_action(SIGUSR1).handler != (void *)on_signal ||
        kernel_action(SIGSEGV).handler != (void *)on_signal ||
        kernel_action(SIGTERM).handler != SIG_DFL || kernel_action(OURS).handler != SIG_IGN)
        _exit(1);
    set(SIGTERM, on_signal, 0);
    _exit(kernel_action(SIGTERM).handler == (void *)on_signal ? 0 : 2);
}

static void the_program_gets_its_actions_back(void **state)
{
    (void)state;
    begin();
    assert_goes_on(give_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_mask_keeps_samples_out),
        cmocka_unit_test(other_signals_are_masked_as_asked),
        cmocka_unit_test(a_sample_is_interrupted_by_faults_only),
        cmocka_unit_test(a_signalfd_gets_no_samples),
        cmocka_unit_test(the_program_sees_the_actions_that_it_set),
        cmocka_unit_test(bad_signals_are_refused),
        cmocka_unit_test(a_handler_gets_what_the_kernel_gives),
        cmocka_unit_test(flags_of_an_action_have_their_effect),
        cmocka_unit_test(the_old_functions_set_what_they_say),
        cmocka_unit_test(a_vfork_child_changes_its_own_actions_only),
        cmocka_unit_test(the_program_may_use_our_signal),
        cmocka_unit_test(the_highest_free_signal_is_chosen),
        cmocka_unit_test(what_was_measured_is_written_first),
        cmocka_unit_test(a_fault_of_the_program_is_its_own),
        cmocka_unit_test(a_fault_of_ours_is_not),
        cmocka_unit_test(a_fault_that_is_sent_waits_for_the_end_of_a_sample),
        cmocka_unit_test(a_handler_can_be_sampled_and_interrupted),
        cmocka_unit_test(a_small_signal_stack_is_left_to_the_program),
        cmocka_unit_test(the_program_gets_its_actions_back),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    process.pid = getpid();
    process.signal = OURS;
    process.active = true;
    signals_init(OURS);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
