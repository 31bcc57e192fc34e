/* full_stacks WHAT MS: works for about MS of CPU time on a stack of which all but LEFT bytes are in
 * use. Below it nothing is mapped. WHAT:
 *   handler     a handler on the thread's signal stack
 *   nested      a handler there that has interrupted another one
 *   thread      a thread on a stack of its own
 *   context     a context (makecontext) on a stack of 16 KB
 *   coroutine   code on a stack that was a signal stack when a handler began there
 * Prints "fine", then, but for a coroutine, a line "FUNCTION... NS": the call path, innermost function
 * first. The time is that of fill and its callees. */
#include "burn.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#define LEFT 768 /* what `fill` needs for its callees; less than a frame of the kernel's */

static uint64_t budget, filled_ns;
static char *volatile stack; /* volatile: raise is declared not to call back */
static size_t size;

static void map(size_t bytes)
{
    char *block = mmap(NULL, bytes + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size = bytes;
    stack = block + 65536;
    mprotect(stack, size, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void fill(void)
{
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID); /* its first call takes 3 KB: lazy binding */
    char *here = __builtin_frame_address(0);
    volatile char *room = alloca((size_t)(here - stack) - LEFT);
    room[0] = 1;
    filled_ns += burn_from(begin, budget) - begin;
    burn_sink += (uint64_t)room[0];
}

/* ---- handlers ---- */

static void on_signal(int signal)
{
    fill();
    burn_sink += (uint64_t)signal;
}

static void on_outer_signal(int signal)
{
    raise(SIGUSR1);
    burn_sink += (uint64_t)signal;
}

static void use_signal_stack(void)
{
    const stack_t its = {.ss_sp = stack, .ss_size = size};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK},
                           outer = {.sa_handler = on_outer_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&its, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &outer, NULL);
}

static void handler(void)
{
    map(65536);
    use_signal_stack();
    raise(SIGUSR1);
    printf("fine\nfill on_signal handler main %lu\n", filled_ns);
}

static void nested(void)
{
    map(65536);
    use_signal_stack();
    raise(SIGUSR2);
    printf("fine\nfill on_signal on_outer_signal nested main %lu\n", filled_ns);
}

/* ---- stacks of threads and contexts ---- */

static void *run(void *argument)
{
    fill();
    return argument;
}

static void thread(void)
{
    pthread_attr_t attributes;
    pthread_t id;
    map(65536);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, size) != 0 ||
        pthread_create(&id, &attributes, run, NULL) != 0)
        exit(1);
    pthread_join(id, NULL);
    printf("fine\nfill run %lu\n", filled_ns);
}

static ucontext_t caller, callee;

static void on_context(void)
{
    fill();
    burn_sink++;
}

static void context(void)
{
    map(16384);
    getcontext(&callee);
    callee.uc_stack.ss_sp = stack;
    callee.uc_stack.ss_size = size;
    callee.uc_link = &caller;
    makecontext(&callee, on_context, 0);
    swapcontext(&caller, &callee);
    printf("fine\nfill on_context %lu\n", filled_ns);
}

/* ---- a coroutine: the trick of GNU Pth and of QEMU ---- */

static sigjmp_buf in_coroutine, back;

static void on_start(int signal)
{
    if (sigsetjmp(in_coroutine, 0) == 0)
        return;
    fill();
    burn_sink += (uint64_t)signal;
    siglongjmp(back, 1);
}

static void coroutine(void)
{
    const struct sigaction action = {.sa_handler = on_start, .sa_flags = SA_ONSTACK};
    const stack_t none = {.ss_flags = SS_DISABLE};
    map(65536);
    use_signal_stack();
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaltstack(&none, NULL);
    if (sigsetjmp(back, 0) == 0)
        siglongjmp(in_coroutine, 1);
    printf("fine\n");
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"handler", handler},
               {"nested", nested},
               {"thread", thread},
               {"context", context},
               {"coroutine", coroutine}};
    if (count != 3)
        return 2;
    budget = (uint64_t)atoi(arguments[2]) * 1000000u;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(arguments[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
