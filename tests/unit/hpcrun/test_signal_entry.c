/* hooks/signal-entry.h and thread/signal-stack.h: the program's handlers run where, and with what masks
 * and registers, they do without hpcrun. Each scenario runs before the signals are hpcrun's, and again
 * in a thread whose stack in the kernel is ours: its notes must be the same. */
#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/hooks/kernel-stack-users.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/signal-stack.h"
#include "tests/unit/hpcrun/simulated_go.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- notes ---- */

#define STACK_BYTES 262144
#define GUARD_BYTES 4096
#define MAX_NOTES   256

static _Alignas(64) char memory[GUARD_BYTES + STACK_BYTES];
static char *const stack = memory + GUARD_BYTES;

/* What a scenario sees. A handler's place is its frame's address, or, outside of the signal stack, its
 * distance from what it interrupted. */
struct note {
    int what, value;
    uint64_t place, mask;
};

static struct {
    struct note at[MAX_NOTES];
    int n;
} now;

static void note(int what, int value, uint64_t place, uint64_t mask)
{
    assert_true(now.n < MAX_NOTES);
    now.at[now.n++] = (struct note){what, value, place, mask};
}

static uint64_t place_of(uint64_t frame, const ucontext_t *context)
{
    bool is_on_stack = frame - (uint64_t)(uintptr_t)stack < STACK_BYTES;
    return is_on_stack ? frame : (uint64_t)context->uc_mcontext.gregs[REG_RSP] - frame;
}

#define NOTE_HANDLER(signal, info, context)                                                        \
    note(signal, (info)->si_code == SI_QUEUE ? (info)->si_value.sival_int : (info)->si_code,       \
         place_of((uint64_t)(uintptr_t)__builtin_frame_address(0), context), kernel_mask())

/* ---- what scenarios are made of ---- */

static void handle(int signal, siginfo_t *info, void *context)
{
    NOTE_HANDLER(signal, info, context);
}

static void raise_in_handler(int signal, siginfo_t *info, void *context)
{
    NOTE_HANDLER(signal, info, context);
    raise(SIGUSR2);
    note(signal, 0, 0, kernel_mask());
}

static void act(int signal, void (*handler)(int, siginfo_t *, void *), int flags, uint64_t mask)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};
    action.sa_mask.__val[0] = mask;
    assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void use_stack(size_t size)
{
    const stack_t its = {.ss_sp = stack, .ss_size = size};
    assert_int_equal(sigaltstack(&its, NULL), 0);
}

static void use_no_stack(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    assert_int_equal(sigaltstack(&none, NULL), 0);
}

static uint64_t set_mask(uint64_t mask)
{
    sigset_t set = {{mask}}, before;
    assert_int_equal(sigprocmask(SIG_SETMASK, &set, &before), 0);
    return before.__val[0];
}

#define BIT(signal) sys_mask_bit(signal)

/* ---- scenarios ---- */

static void one_handler(void)
{
    use_stack(STACK_BYTES);
    act(SIGUSR1, handle, SA_ONSTACK, BIT(SIGHUP));
    raise(SIGUSR1);
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42});
    act(SIGUSR1, handle, SA_ONSTACK | SA_NODEFER, 0);
    raise(SIGUSR1);
    act(SIGUSR1, handle, 0, 0);
    raise(SIGUSR1);
}

static void without_a_stack(void)
{
    use_no_stack();
    act(SIGUSR1, raise_in_handler, SA_ONSTACK, 0);
    act(SIGUSR2, handle, SA_ONSTACK, 0);
    act(SIGIO, handle, 0, 0);
    raise(SIGUSR1);
    raise(SIGIO);
}

static void handlers_in_handlers(void)
{
    use_stack(STACK_BYTES);
    for (int flags = 0; flags < 4; flags++) {
        act(SIGUSR1, raise_in_handler, flags & 1 ? SA_ONSTACK : 0, 0);
        act(SIGUSR2, handle, flags & 2 ? SA_ONSTACK : 0, 0);
        raise(SIGUSR1);
    }
}

/* The kernel builds their frames one after the other, before the first handler runs. */
static void signals_at_once(void)
{
    use_stack(STACK_BYTES);
    for (int plain = 0; plain < 8; plain++) {
        const int signals[] = {SIGHUP, SIGUSR1, SIGUSR2};
        uint64_t before = set_mask(BIT(SIGHUP) | BIT(SIGUSR1) | BIT(SIGUSR2));
        for (int i = 0; i < 3; i++) {
            act(signals[i], handle, plain >> i & 1 ? 0 : SA_ONSTACK, i == 1 ? BIT(SIGUSR2) : 0);
            raise(signals[i]);
        }
        set_mask(before);
    }
}

static void many_signals_at_once(void)
{
    const int signal = SIGRTMIN + 2;
    use_stack(STACK_BYTES);
    act(signal, handle, SA_ONSTACK | SA_NODEFER, 0);
    uint64_t before = set_mask(BIT(signal));
    for (int i = 0; i < 40; i++)
        sigqueue(getpid(), signal, (union sigval){.sival_int = i});
    set_mask(before);
}

/* The handler has the mask of the call in addition to its own, not that of the program. */
static void a_call_with_a_mask(void)
{
    sigset_t only_first, none;
    sigfillset(&only_first);
    sigdelset(&only_first, SIGUSR1);
    sigemptyset(&none);
    use_stack(STACK_BYTES);
    act(SIGUSR1, handle, SA_ONSTACK, 0);
    act(SIGUSR2, handle, SA_ONSTACK, 0);
    uint64_t before = set_mask(BIT(SIGUSR1) | BIT(SIGUSR2));
    raise(SIGUSR1);
    sys2(SYS_rt_sigsuspend, &only_first, sizeof(uint64_t));
    raise(SIGUSR1);
    raise(SIGUSR2);
    sys2(SYS_rt_sigsuspend, &none, sizeof(uint64_t));
    note(0, 0, 0, kernel_mask());
    set_mask(before);
}

static void note_stack(const stack_t *change)
{
    stack_t old = {.ss_sp = NULL};
    int result = sigaltstack(change, &old);
    note(result ? errno : 0, old.ss_flags, (uint64_t)(uintptr_t)old.ss_sp, old.ss_size);
}

static void ask_in_handler(int signal, siginfo_t *info, void *context)
{
    const stack_t *its = &((ucontext_t *)context)->uc_stack;
    NOTE_HANDLER(signal, info, context);
    note(0, its->ss_flags & ~(1 << 30), (uint64_t)(uintptr_t)its->ss_sp, its->ss_size);
    note_stack(NULL);
}

static void change_in_handler(int signal, siginfo_t *info, void *context)
{
    const stack_t other = {.ss_sp = stack, .ss_size = STACK_BYTES / 2};
    ask_in_handler(signal, info, context);
    note_stack(&other);
    note_stack(NULL);
}

static void what_the_program_sees(void)
{
    const stack_t small = {.ss_sp = stack, .ss_size = 100}, wrong = {.ss_flags = 7},
                  lower = {.ss_sp = stack, .ss_size = STACK_BYTES / 2, .ss_flags = SS_ONSTACK};
    use_no_stack();
    note_stack(NULL);
    use_stack(STACK_BYTES);
    note_stack(NULL);
    note_stack(&small);
    note_stack(&wrong);
    note_stack((const stack_t *)8);
    note_stack(NULL);
    act(SIGUSR1, change_in_handler, SA_ONSTACK, 0); /* it may not */
    raise(SIGUSR1);
    act(SIGUSR1, ask_in_handler, 0, 0);
    raise(SIGUSR1);
    note_stack(&lower);
    note_stack(NULL);
    act(SIGUSR1, handle, SA_ONSTACK, 0);
    raise(SIGUSR1);
}

/* Only the kernel knows when the stack is in use. */
static void a_stack_that_is_disarmed(void)
{
    const stack_t its = {.ss_sp = stack, .ss_size = STACK_BYTES, .ss_flags = (int)(1u << 31)};
    note_stack(&its);
    note_stack(NULL);
    act(SIGUSR1, ask_in_handler, SA_ONSTACK, 0);
    raise(SIGUSR1);
    note_stack(NULL);
    use_no_stack();
}

static sigjmp_buf landing;

static void jump(int signal, siginfo_t *info, void *context)
{
    NOTE_HANDLER(signal, info, context);
    siglongjmp(landing, 1);
}

static void a_handler_that_jumps(void)
{
    use_stack(STACK_BYTES);
    act(SIGUSR1, jump, SA_ONSTACK, 0);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(landing, 1) == 0)
            raise(SIGUSR1);
    note_stack(NULL);
}

static void skip_instruction(int signal, siginfo_t *info, void *context)
{
    NOTE_HANDLER(signal, info, context);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3;
}

static void faults(void)
{
    use_stack(STACK_BYTES);
    for (int flags = 0; flags < 4; flags++) {
        act(SIGSEGV, skip_instruction,
            (flags & 1 ? SA_ONSTACK : 0) | (flags & 2 ? SA_NODEFER : 0), BIT(SIGHUP));
        __asm__ volatile("mov (%%rax), %%rax" : : "a"(8l) : "memory");
        note(0, 0, 0, kernel_mask());
    }
}

/* The handler sees the vector registers and changes one of them. */
static void change_registers(int signal, siginfo_t *info, void *context)
{
    struct _libc_fpstate *vectors = ((ucontext_t *)context)->uc_mcontext.fpregs;
    NOTE_HANDLER(signal, info, context);
    note((int)vectors->_xmm[14].element[0], (int)vectors->_xmm[15].element[0],
         (uint64_t)(uintptr_t)vectors, 0);
    vectors->_xmm[14].element[0] = 333;
    __asm__ volatile("pxor %%xmm15, %%xmm15" : : : "xmm15");
}

static void vector_registers(void)
{
    int first = 111, second = 222;
    use_stack(STACK_BYTES);
    act(SIGUSR1, change_registers, SA_ONSTACK, 0);
    __asm__ volatile("movd %0, %%xmm14\n movd %1, %%xmm15\n"
                     "syscall\n"
                     "movd %%xmm14, %0\n movd %%xmm15, %1\n"
                     : "+r"(first), "+r"(second)
                     : "a"(SYS_tgkill), "D"(getpid()), "S"(sys_gettid()), "d"(SIGUSR1)
                     : "rcx", "r11", "memory", "xmm14", "xmm15");
    note(first, second, 0, 0);
}

static int ends;

static void end_in(void (*function)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        process.pid = getpid();
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    note(ends++, status, 0, 0);
}

#define FRAME_BYTES 16384 /* more than any frame of the kernel's */

/* Leaves `left` bytes of the stack. */
static void fill_and_raise(size_t left)
{
    char *here = __builtin_frame_address(0);
    volatile char *room = __builtin_alloca((size_t)(here - stack) - left);
    room[0] = 1;
    raise(SIGUSR2);
}

static void fill(int signal)
{
    fill_and_raise(2 * FRAME_BYTES);
    fill_and_raise(1024);
}

static void overflow(void)
{
    use_stack(STACK_BYTES);
    set_action(SIGUSR1, fill, SA_ONSTACK);
    set_action(SIGUSR2, on_signal, SA_ONSTACK);
    raise(SIGUSR1);
}

static void a_stack_that_overflows(void)
{
    end_in(overflow);
}

/* ---- both ways ---- */

struct scenario {
    const char *name;
    void (*run)(void);
    struct note alone[MAX_NOTES];
    int n;
};

static struct scenario scenarios[] = {
    {.name = "one_handler", .run = one_handler},
    {.name = "without_a_stack", .run = without_a_stack},
    {.name = "handlers_in_handlers", .run = handlers_in_handlers},
    {.name = "signals_at_once", .run = signals_at_once},
    {.name = "many_signals_at_once", .run = many_signals_at_once},
    {.name = "a_call_with_a_mask", .run = a_call_with_a_mask},
    {.name = "what_the_program_sees", .run = what_the_program_sees},
    {.name = "a_stack_that_is_disarmed", .run = a_stack_that_is_disarmed},
    {.name = "a_handler_that_jumps", .run = a_handler_that_jumps},
    {.name = "faults", .run = faults},
    {.name = "vector_registers", .run = vector_registers},
    {.name = "a_stack_that_overflows", .run = a_stack_that_overflows},
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* Scenarios begin at the same place in a block of 64 bytes of the stack: the kernel aligns to that. */
__attribute__((noinline)) static void run(const struct scenario *scenario)
{
    volatile char *rest = __builtin_alloca((uintptr_t)__builtin_frame_address(0) % 64 + 16);
    rest[0] = 0;
    for (int signal = 1; signal < SIGRTMIN + 4; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && (signal < 32 || signal >= SIGRTMIN))
            set_action(signal, SIG_DFL, 0);
    use_no_stack();
    now.n = ends = 0;
    scenario->run();
}

static struct thread thread;

static stack_t stack_in_kernel(void)
{
    stack_t now_there;
    assert_int_equal(sys2(SYS_sigaltstack, NULL, &now_there), 0);
    return now_there;
}

static bool ours_is_in_kernel(void)
{
    return stack_in_kernel().ss_sp == thread.signal_stack.ss_sp;
}

static void as_without_hpcrun(void **state)
{
    const struct scenario *scenario = *state;
    run(scenario);
    assert_int_equal(now.n, scenario->n);
    for (int i = 0; i < now.n; i++) {
        const struct note *is = &now.at[i], *was = &scenario->alone[i];
        if (memcmp(is, was, sizeof *is) != 0)
            fail_msg("note %d: %d %d %#lx %#lx; alone: %d %d %#lx %#lx", i, is->what, is->value,
                     is->place, is->mask, was->what, was->value, was->place, was->mask);
    }
    assert_true(ours_is_in_kernel());
}

/* ---- what only hpcrun has ---- */

static void sample_in_full_stack(int signal)
{
    char *here = __builtin_frame_address(0);
    volatile char *room = __builtin_alloca((size_t)(here - stack) - 512);
    room[0] = 1;
    send_signal(OURS, SI_TIMER);
}

static uint64_t sample_at;

static void remember_place(void)
{
    sample_at = (uint64_t)(uintptr_t)__builtin_frame_address(0);
}

/* There is no room for a frame of the kernel's. */
static void a_sample_takes_nothing_of_the_stack(void **state)
{
    begin_test();
    thread_self = &thread;
    during_sample = remember_place;
    memset(memory, 0x5a, sizeof memory);
    use_stack(STACK_BYTES);
    send_signal(OURS, SI_TIMER);
    for (size_t i = 0; i < sizeof memory; i++)
        assert_int_equal(memory[i], 0x5a);
    set_action(SIGUSR1, sample_in_full_stack, SA_ONSTACK);
    raise(SIGUSR1);
    assert_int_equal(samples, 2);
    assert_true(signal_stack_holds(&thread.signal_stack, sample_at));
    for (size_t i = 0; i < GUARD_BYTES; i++)
        assert_int_equal(memory[i], 0x5a);
}

/* A lost sample is taken before the program's handler of SIGIO, which runs where it does without us. */
static void a_lost_sample_takes_nothing_either(void **state)
{
    begin_test();
    thread_self = &thread;
    during_sample = remember_place;
    now.n = 0;
    sample_at = 0;
    act(SIGIO, handle, 0, 0);
    send_signal(SIGIO, SI_QUEUE);
    assert_int_equal(lost_samples, 1);
    assert_true(signal_stack_holds(&thread.signal_stack, sample_at));
    assert_int_equal(now.n, 1);
    assert_true(now.at[0].place < FRAME_BYTES);
}

/* Go's runtime has asked the kernel for the signal stack and knows ours. */
static void a_handler_of_go_runs_on_our_stack(void **state)
{
    begin_test();
    thread_self = &thread;
    during_handler_of_go = remember_place;
    use_stack(STACK_BYTES);
    act(SIGUSR1, handler_of_go, SA_ONSTACK, 0);
    act(SIGUSR2, handle, SA_ONSTACK, 0);
    raise(SIGUSR1);
    assert_true(signal_stack_holds(&thread.signal_stack, sample_at));
    now.n = 0;
    raise(SIGUSR2);
    assert_true(now.at[0].place - (uint64_t)(uintptr_t)stack < STACK_BYTES);
}

static void a_module_is_read_once(void **state)
{
    Dl_info go;
    assert_int_not_equal(dladdr((void *)(uintptr_t)handler_of_go, &go), 0);
    assert_true(uses_kernel_stack((void *)(uintptr_t)handler_of_go));
    assert_false(uses_kernel_stack((void *)(uintptr_t)handle));
    assert_true(uses_kernel_stack((void *)(uintptr_t)handler_of_go));
    assert_int_equal(mprotect(go.dli_fbase, 4096, PROT_NONE), 0);
    assert_true(uses_kernel_stack((void *)(uintptr_t)handler_of_go));
    module_unloads++; /* another module may now be at this address */
    assert_false(uses_kernel_stack((void *)(uintptr_t)handler_of_go));
    assert_int_equal(mprotect(go.dli_fbase, 4096, PROT_READ), 0);
    module_unloads++;
    assert_true(uses_kernel_stack((void *)(uintptr_t)handler_of_go));
}

/* The program's handler of our signal; the kernel has entered ours with nearly all signals blocked. */
static void the_program_may_use_our_signal(void **state)
{
    begin_test();
    thread_self = &thread;
    use_stack(STACK_BYTES);
    now.n = 0;
    act(OURS, handle, SA_ONSTACK, BIT(SIGHUP));
    send_signal(OURS, SI_QUEUE);
    act(OURS, handle, 0, 0);
    send_signal(OURS, SI_QUEUE);
    assert_int_equal(now.n, 2);
    assert_true(now.at[0].place - (uint64_t)(uintptr_t)stack < STACK_BYTES);
    assert_int_equal(now.at[0].mask, BIT(SIGHUP));
    assert_true(now.at[1].place < FRAME_BYTES); /* on the stack that it interrupted */
    assert_int_equal(now.at[1].mask, 0);
}

static void the_thread_ends(void **state)
{
    begin_test();
    thread_self = &thread;
    use_stack(STACK_BYTES);
    assert_true(ours_is_in_kernel());
    signal_stack_end(&thread);
    assert_ptr_equal(stack_in_kernel().ss_sp, stack);
    assert_int_equal(stack_in_kernel().ss_size, STACK_BYTES);
    signal_stack_begin(&thread);
    assert_true(ours_is_in_kernel());
    note_stack(NULL);
    assert_int_equal(now.at[now.n - 1].place, (uintptr_t)stack);
}

STEP(become_a_thread)
{
    thread_self = &thread;
}

int main(void)
{
    static struct CMUnitTest tests[SCENARIOS + 6];
    for (int i = 0; i < SCENARIOS; i++) {
        struct scenario *scenario = &scenarios[i];
        run(scenario);
        memcpy(scenario->alone, now.at, sizeof now.at);
        scenario->n = now.n;
        tests[i] = (struct CMUnitTest){scenario->name, as_without_hpcrun, become_a_thread, NULL,
                                       scenario};
    }
    tests[SCENARIOS] = (struct CMUnitTest)cmocka_unit_test(a_sample_takes_nothing_of_the_stack);
    tests[SCENARIOS + 1] = (struct CMUnitTest)cmocka_unit_test(the_program_may_use_our_signal);
    tests[SCENARIOS + 2] = (struct CMUnitTest)cmocka_unit_test(the_thread_ends);
    tests[SCENARIOS + 3] = (struct CMUnitTest)cmocka_unit_test(a_lost_sample_takes_nothing_either);
    tests[SCENARIOS + 4] = (struct CMUnitTest)cmocka_unit_test(a_handler_of_go_runs_on_our_stack);
    tests[SCENARIOS + 5] = (struct CMUnitTest)cmocka_unit_test(a_module_is_read_once);
    if (take_signals(NULL) != 0)
        return 1;
    signal_stack_begin(&thread);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
