/* stacks WHAT MS: unusual uses of stacks, for about MS of CPU time. Prints "fine" if it works as it does
 * without a profiler, then a line "FUNCTION... NS" for each call path with known CPU time, innermost
 * function first; burn and its callees are below these.
 */
#include "burn.h"

#include <limits.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

static uint64_t budget;

static uint64_t thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- contexts that are switched, each on a stack of its own ---- */

#define FIBER_STACK 65536
#define SLICE       50000 /* ns that a fiber works before it yields */

static ucontext_t scheduler, fibers[2];
static uint64_t fiber_ns[2];

__attribute__((noinline)) static void work_0(void)
{
    burn(SLICE);
    burn_sink++;
}

__attribute__((noinline)) static void work_1(void)
{
    burn(SLICE);
    burn_sink += 2;
}

__attribute__((noinline)) static void fiber_0(void)
{
    for (;;) {
        uint64_t begin = thread_ns();
        work_0();
        fiber_ns[0] += thread_ns() - begin;
        swapcontext(&fibers[0], &scheduler);
    }
}

__attribute__((noinline)) static void fiber_1(void)
{
    for (;;) {
        uint64_t begin = thread_ns();
        work_1();
        fiber_ns[1] += thread_ns() - begin;
        swapcontext(&fibers[1], &scheduler);
    }
}

static void make_fiber(int which, char *stack, void (*function)(void))
{
    getcontext(&fibers[which]);
    fibers[which].uc_stack.ss_sp = stack;
    fibers[which].uc_stack.ss_size = FIBER_STACK;
    makecontext(&fibers[which], function, 0);
}

static void run_fibers(void)
{
    uint64_t end = thread_ns() + budget;
    for (int i = 0; thread_ns() < end; i++)
        swapcontext(&scheduler, &fibers[i % 2]);
    printf("fine\nwork_0 fiber_0 %lu\nwork_1 fiber_1 %lu\n", fiber_ns[0], fiber_ns[1]);
}

static char *map(size_t size, int extra)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE | extra, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void contexts(void)
{
    make_fiber(0, map(FIBER_STACK, 0), fiber_0);
    make_fiber(1, map(FIBER_STACK, 0), fiber_1);
    run_fibers();
}

/* Every page of the stacks is a mapping of its own, and stacks lie side by side. */
static void split(void)
{
    char *both = map(2 * (size_t)FIBER_STACK, 0);
    for (size_t at = 0; at < 2 * (size_t)FIBER_STACK; at += 8192)
        mprotect(both + at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    make_fiber(0, both, fiber_0);
    make_fiber(1, both + FIBER_STACK, fiber_1);
    run_fibers();
}

/* ---- deep recursion ---- */

#define DEPTH      1000000
#define DEEP_STACK ((size_t)512 << 20)

__attribute__((noinline)) static uint64_t deepest(uint64_t ns)
{
    burn(ns);
    return burn_sink;
}

__attribute__((noinline)) static uint64_t descend(int depth, uint64_t ns)
{
    if (depth == 0)
        return deepest(ns);
    return descend(depth - 1, ns) + burn_sink;
}

static uint64_t deep_ns;

static void *recurse(void *argument)
{
    uint64_t begin = thread_ns();
    for (int i = 0; i < 4; i++)
        descend(DEPTH, budget / 4);
    deep_ns = thread_ns() - begin;
    return argument;
}

static void *run_thread(void *(*function)(void *), size_t size)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, size) != 0 ||
        pthread_create(&thread, &attributes, function, &budget) != 0)
        exit(1);
    pthread_join(thread, &result);
    return result;
}

static void deep(void)
{
    run_thread(recurse, DEEP_STACK);
    printf("fine\n%lu\n", deep_ns);
}

/* ---- the smallest stack ---- */

#define TINY_USE 1500 /* bytes of it that the program takes for itself */

static uint64_t tiny_ns;

__attribute__((noinline)) static void tiny_work(void)
{
    volatile char room[TINY_USE];
    for (int i = 0; i < TINY_USE; i++)
        room[i] = (char)i;
    burn(budget / 10);
    burn_sink += (uint64_t)room[TINY_USE - 1];
}

static void *tiny_thread(void *argument)
{
    uint64_t begin = thread_ns();
    tiny_work();
    tiny_ns += thread_ns() - begin;
    return argument;
}

static void tiny(void)
{
    for (int i = 0; i < 10; i++)
        run_thread(tiny_thread, PTHREAD_STACK_MIN);
    printf("fine\ntiny_work tiny_thread %lu\n", tiny_ns);
}

/* A stack of the same size that the program allocated, so that hpcrun cannot enlarge it. */
static void tiny_own(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    for (int i = 0; i < 10; i++) {
        char *stack = map(PTHREAD_STACK_MIN, 0);
        pthread_attr_init(&attributes);
        if (pthread_attr_setstack(&attributes, stack, PTHREAD_STACK_MIN) != 0 ||
            pthread_create(&thread, &attributes, tiny_thread, NULL) != 0)
            exit(1);
        pthread_join(thread, NULL);
        munmap(stack, PTHREAD_STACK_MIN);
    }
    printf("fine\ntiny_work tiny_thread %lu\n", tiny_ns);
}

/* ---- longjmp ---- */

static jmp_buf landing;
static uint64_t jump_ns;

__attribute__((noinline)) static void after_jump(void)
{
    uint64_t begin = thread_ns();
    burn(10000);
    jump_ns += thread_ns() - begin;
}

__attribute__((noinline)) static void jump_from(int depth)
{
    volatile char room[100];
    room[0] = (char)depth;
    if (depth == 0)
        longjmp(landing, 1);
    if (depth > 0)
        jump_from(depth - 1);
    burn_sink += (uint64_t)room[0];
}

__attribute__((noinline)) static void jumps(void)
{
    volatile uint64_t end = thread_ns() + budget;
    while (thread_ns() < end) {
        if (setjmp(landing) == 0)
            jump_from(30);
        else
            after_jump();
    }
    printf("fine\nafter_jump jumps main %lu\n", jump_ns);
}

/* ---- a stack that overflows, caught on a signal stack ---- */

static sigjmp_buf recovery;
static volatile uintptr_t fault_address;
static volatile sig_atomic_t fault_code;

static void on_overflow(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    fault_address = (uintptr_t)info->si_addr;
    fault_code = info->si_code;
    siglongjmp(recovery, 1);
}

static volatile uintptr_t lowest;

__attribute__((noinline)) static uint64_t overflow(uint64_t depth)
{
    volatile char room[512];
    lowest = (uintptr_t)room;
    room[0] = (char)depth;
    for (int i = 0; i < 100; i++)
        room[i] = (char)(room[i] + i);
    return depth == UINT64_MAX ? 0 : overflow(depth + 1) + (uint64_t)room[0];
}

static uint64_t overflow_faults, strange_faults;

static void *overflow_again_and_again(void *argument)
{
    stack_t stack = {.ss_sp = map(65536, 0), .ss_size = 65536};
    struct sigaction action = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    volatile uint64_t end = thread_ns() + budget;
    while (thread_ns() < end || overflow_faults <= 10) {
        if (sigsetjmp(recovery, 1) == 0)
            overflow(0);
        overflow_faults++;
        /* A write to the guard page, below the frame that did not fit. */
        strange_faults +=
            fault_code != SEGV_ACCERR || fault_address > lowest || lowest - fault_address > 4096;
    }
    return argument;
}

static void overflows(void)
{
    run_thread(overflow_again_and_again, 256 << 10);
    printf(strange_faults == 0 ? "fine\n" : "%lu faults, %lu strange\n", overflow_faults,
           strange_faults);
}

/* ---- the stack pointer as a general register, below a signal stack ---- */

uint64_t sp_counts_down(uint64_t count);
__asm__(".text\n"
        ".type sp_counts_down, @function\n"
        "sp_counts_down:\n"
        "    mov %rsp, saved_sp(%rip)\n"
        "    mov %rdi, %rsp\n"
        "1:  dec %rsp\n"
        "    jnz 1b\n"
        "    mov saved_sp(%rip), %rsp\n"
        "    mov %rdi, %rax\n"
        "    ret\n"
        ".size sp_counts_down, .-sp_counts_down\n"
        ".local saved_sp\n"
        ".comm saved_sp, 8, 8\n");

static void stack_pointer(void)
{
    stack_t stack = {.ss_sp = map(65536, 0), .ss_size = 65536};
    uint64_t end = thread_ns() + budget, begin = thread_ns();
    sigaltstack(&stack, NULL);
    while (thread_ns() < end)
        if (sp_counts_down(1000000) != 1000000)
            exit(1);
    printf("fine\nsp_counts_down %lu\n", thread_ns() - begin);
}

/* ---- a handler on a signal stack ---- */

static uint64_t handler_ns;

static void on_signal(int signal)
{
    uint64_t begin = thread_ns();
    (void)signal;
    burn(1000000);
    handler_ns += thread_ns() - begin;
}

__attribute__((noinline)) static void send_signal(void)
{
    raise(SIGUSR1);
    burn_sink++;
}

static void signal_stack(void)
{
    stack_t stack = {.ss_sp = map(65536, 0), .ss_size = 65536};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    uint64_t end = thread_ns() + budget;
    while (thread_ns() < end)
        send_signal();
    printf("fine\non_signal send_signal signal_stack main %lu\n", handler_ns);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"contexts", contexts},
               {"split", split},
               {"deep", deep},
               {"tiny", tiny},
               {"tiny-own", tiny_own},
               {"jumps", jumps},
               {"overflows", overflows},
               {"stack-pointer", stack_pointer},
               {"signal-stack", signal_stack}};
    if (count != 3)
        return 2;
    budget = (uint64_t)atoi(arguments[2]) * 1000000u;
    alarm(600); /* ends only what hangs, on any machine */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(arguments[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
