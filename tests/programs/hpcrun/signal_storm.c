/* signal_storm MS: two threads with small signal stacks compute for MS of CPU time, while a third one
 * sends them signals in bursts. Handlers with SA_ONSTACK must run on the thread's signal stack, others
 * on the stack that they interrupt; none may change what the thread computes. Prints "fine". */
#include "burn.h"

#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { THREADS = 2, SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGUSR1, SIGUSR2, SIGHUP, SIGWINCH};
static const bool on_stack[SIGNALS] = {true, true, false, false};

struct worker {
    pthread_t thread;
    char *stack;
    size_t size;
    char *own_low, *own_high; /* of the thread's own stack */
};

static struct worker workers[THREADS];
static _Thread_local struct worker *self;
static _Atomic uint64_t wrong;
static _Atomic uint64_t calls[SIGNALS];
static _Atomic int running = THREADS;
static uint64_t budget;

static bool is_in(const char *low, const char *high, const char *address)
{
    return address >= low && address < high;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    const char *here = __builtin_frame_address(0);
    const char *before = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
    bool is_here = is_in(self->stack, self->stack + self->size, here);
    bool was_here = is_in(self->stack, self->stack + self->size, before);
    int which = 0;
    while (signals[which] != signal)
        which++;
    bool is_right = on_stack[which] || was_here ? is_here : is_in(self->own_low, self->own_high, here);
    if (was_here && before - here > 16384)
        is_right = false; /* not next to what it interrupted */
    wrong += !is_right || info->si_signo != signal;
    calls[which]++;
    __asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm7, %%xmm7\n pxor %%xmm15, %%xmm15"
                     :
                     :
                     : "xmm0", "xmm7", "xmm15");
}

static double sum(int n)
{
    double total = 0, step = 1;
    for (int i = 0; i < n; i++) {
        total += step * i;
        step = -step * 0.999;
    }
    return total;
}

static void *compute(void *argument)
{
    self = argument;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    self->own_low = low;
    self->own_high = self->own_low + size;
    const stack_t stack = {.ss_sp = self->stack, .ss_size = self->size};
    sigaltstack(&stack, NULL);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    const double expected = sum(2000);
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        wrong += sum(2000) != expected;
    running--;
    return argument;
}

/* Bursts of all signals to one thread, now and then with a nap. */
static void send(void)
{
    const struct timespec nap = {.tv_nsec = 200000};
    for (unsigned round = 0; running > 0; round++) {
        pthread_t thread = workers[round % THREADS].thread;
        for (int i = 0; i < SIGNALS; i++)
            pthread_kill(thread, signals[(i + round / 7) % SIGNALS]);
        if (round % 8 == 0)
            nanosleep(&nap, NULL);
    }
}

int main(int count, char **arguments)
{
    sigset_t all;
    sigfillset(&all);
    budget = (uint64_t)(atof(arguments[count - 1]) * 1e6);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action = {.sa_sigaction = handle,
                                   .sa_flags = SA_SIGINFO | (on_stack[i] ? SA_ONSTACK : 0)};
        sigaction(signals[i], &action, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i].size = (SIGNALS + 1) * getauxval(AT_MINSIGSTKSZ);
        workers[i].stack = mmap(NULL, workers[i].size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pthread_create(&workers[i].thread, NULL, compute, &workers[i]) != 0)
            return 1;
    }
    send();
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < SIGNALS; i++)
        wrong += calls[i] == 0;
    puts(wrong ? "wrong" : "fine");
    return wrong != 0;
}
