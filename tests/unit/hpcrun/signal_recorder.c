#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/handler.h"

#include <sys/wait.h>
#include <unistd.h>

struct process process;
struct sampling sampling;
__thread struct thread *thread_self;
__thread unsigned thread_samples_handled, thread_program_handlers;

struct process_ended *process_ended;
unsigned samples, lost_samples;
uint64_t mask_in_sample;
void (*during_sample)(void);
volatile struct seen seen;

uint64_t kernel_mask(void)
{
    return sys_mask(SIG_BLOCK, 0);
}

/* ---- stubs for signals.c ---- */

/* A sample is a signal from a timer. */
uint32_t module_unloads;

uint32_t modules_generation(void)
{
    return module_unloads;
}

bool handler_on_signal(const siginfo_t *info, void *context)
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

bool handler_take_lost(int signal, const siginfo_t *info, void *context, bool alone)
{
    bool is_lost = signal == SIGIO && info->si_code == SI_QUEUE;
    lost_samples += is_lost;
    if (is_lost && during_sample)
        during_sample();
    return is_lost;
}

bool process_end(enum process_state state, int detail)
{
    if (process_ended->calls++ == 0) {
        process_ended->state = state;
        process_ended->detail = detail;
        process_ended->mask = kernel_mask();
    }
    return true;
}

/* ---- signals ---- */

void send_signal(int signal, int code)
{
    siginfo_t info = {.si_signo = signal, .si_code = code};
    info.si_value.sival_int = 4711;
    sys4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signal, &info);
}

struct sys_sigaction kernel_action(int signal)
{
    struct sys_sigaction now;
    assert_int_equal(sys_sigaction(signal, NULL, &now), 0);
    return now;
}

struct sigaction action_of(int signal)
{
    struct sigaction now;
    assert_int_equal(sigaction(signal, NULL, &now), 0);
    return now;
}

void on_signal(int signal)
{
    seen.calls++;
    seen.signal = signal;
    seen.mask = kernel_mask();
}

void on_info(int signal, siginfo_t *info, void *context)
{
    on_signal(signal);
    seen.value = info->si_value.sival_int;
    seen.has_context = context != NULL;
}

void set_action(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    assert_int_equal(sigaction(signal, &action, NULL), 0);
}

void begin_test(void)
{
    seen = (struct seen){0};
    samples = lost_samples = 0;
    *process_ended = (struct process_ended){0};
    sys_mask(SIG_SETMASK, 0);
    for (int signal = 1; signal < SIGRTMIN + 4; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && (signal < 32 || signal >= SIGRTMIN))
            set_action(signal, SIG_DFL, 0);
    set_action(OURS, SIG_DFL, 0);
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

void assert_ends_by(void (*function)(void), int signal)
{
    *process_ended = (struct process_ended){0};
    int status = status_of(function);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
    assert_int_equal(process_ended->calls, 1);
    assert_int_equal(process_ended->state, PROCESS_SIGNAL);
    assert_int_equal(process_ended->detail, signal);
}

void assert_goes_on(void (*function)(void))
{
    *process_ended = (struct process_ended){0};
    int status = status_of(function);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(process_ended->calls, 0);
}

int take_signals(void **state)
{
    process_ended = mmap(NULL, sizeof *process_ended, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    process.pid = getpid();
    process.signal = OURS;
    process.active = true;
    signals_init(OURS);
    return process_ended == MAP_FAILED ? -1 : 0;
}
