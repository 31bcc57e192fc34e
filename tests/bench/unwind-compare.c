/* A preloaded library that samples the program it is loaded into and runs three unwinders on the
 * same interrupted threads: ours, libunwind's unw_step from the interrupted context, and its
 * unw_backtrace. Used by the tests (the three must see the same frames) and by the benchmark.
 *
 * At every sample one of them is timed, alone and first, with the caches as the program left them;
 * they take turns of BLOCK samples, so that each is seen as it would run alone. Every
 * CHECK_EVERY-th sample afterwards compares ours with unw_step, pc for pc.
 *
 *   UNWIND_RATE     samples per second of each thread (default 1000)
 *   UNWIND_REPORT   file that the results go to at exit, as "key value" lines (default: stderr)
 *   UNWIND_VERBOSE  if it is set, paths that differ go to stderr: ours, and unw_step's
 */
#define UNW_LOCAL_ONLY
#include "hpcrun/code/module-ranges.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/unwind/unwind.h"
#include "tests/bench/tick-rate.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK       50
#define CHECK_EVERY 8
#define MAX_DEPTH   UNWIND_MAX_FRAMES

/* libunwind looks into .debug_frame for code without FDE and allocates memory for that; in the
 * middle of the program's malloc that ruins the heap. While it runs it gets memory from here. */
static __thread bool in_handler;
static char handler_heap[16 << 20];
static _Atomic size_t handler_heap_used;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

/* The size of a block stands in the 16 bytes before it. */
static void *from_handler_heap(size_t size)
{
    size_t at = atomic_fetch_add(&handler_heap_used, ((size + 15) & ~(size_t)15) + 16) + 16;
    if (at + size > sizeof handler_heap)
        return NULL;
    memcpy(handler_heap + at - 16, &size, sizeof size);
    return handler_heap + at;
}

static bool is_in_handler_heap(const char *block)
{
    return block >= handler_heap && block < handler_heap + sizeof handler_heap;
}

void *malloc(size_t size)
{
    return in_handler ? from_handler_heap(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return in_handler ? from_handler_heap(count * size) : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (!in_handler && !is_in_handler_heap(block))
        return __libc_realloc(block, size);
    void *new = malloc(size);
    if (new &&is_in_handler_heap(block)) {
        size_t old;
        memcpy(&old, (char *)block - 16, sizeof old);
        memcpy(new, block, old < size ? old : size);
    }
    return new;
}

void free(void *block)
{
    if (!is_in_handler_heap(block) && !in_handler)
        __libc_free(block);
}

enum method { OURS, STEP, BACKTRACE, METHODS };
static const char *const method_name[METHODS] = {"ours", "unw_step", "unw_backtrace"};

#define MAX_TIMES 100000

static struct {
    _Atomic uint64_t samples, frames[METHODS], timed[METHODS];
    _Atomic uint64_t checked, equal, shorter, different;
    _Atomic uint64_t ends[8];
    uint32_t times[METHODS][MAX_TIMES]; /* ticks of each timed unwind, for the medians */
    _Atomic int stop;
} result;

struct per_thread {
    struct unwinder unwinder;
    uint64_t last_cpu;
    void *pcs[MAX_DEPTH];
};
static __thread struct per_thread *self;

static void *fresh_pages(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

static void *fault_handler_address;
static uint64_t period_ns;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)info;
    if (guard_fix_up(self ? &self->unwinder.guard : NULL, context))
        return;
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* Before the thread's timer starts: asking for the stack allocates memory. */
static void begin_thread(void)
{
    struct per_thread *t = fresh_pages(sizeof *t);
    t->unwinder.cache = fresh_pages(sizeof *t->unwinder.cache);
    t->unwinder.path = fresh_pages(UNWIND_FRAMES * sizeof(struct frame));
    t->unwinder.fault_handler = fault_handler_address;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        t->unwinder.stack_low = (uint64_t)(uintptr_t)low;
        t->unwinder.stack_high = (uint64_t)(uintptr_t)low + size;
        pthread_attr_destroy(&attributes);
    }
    self = t;
}

static unsigned run_ours(struct per_thread *t, const ucontext_t *context)
{
    enum unwind_end end = unwind(&t->unwinder, context);
    atomic_fetch_add(&result.ends[end], 1);
    return t->unwinder.depth;
}

static unsigned run_step(struct per_thread *t, ucontext_t *context)
{
    unw_cursor_t cursor;
    unsigned depth = 0;
    unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME);
    do {
        unw_word_t pc;
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        if (pc == 0)
            break;
        t->pcs[depth++] = (void *)pc;
    } while (depth < MAX_DEPTH && unw_step(&cursor) > 0);
    return depth;
}

static unsigned run(enum method method, struct per_thread *t, ucontext_t *context)
{
    switch (method) {
    case OURS: return run_ours(t, context);
    case STEP: return run_step(t, context);
    default: return (unsigned)unw_backtrace(t->pcs, MAX_DEPTH);
    }
}

/* Whether the path has a function that perhaps goes on in another frame (unwind/resume.h):
 * libunwind believes what unwind information says there. */
static bool is_resuming(struct unwinder *u)
{
    for (unsigned i = 0; i < u->depth; i++) {
        enum rule_kind kind = rule_cache_get(u->cache, u->path[i].pc).kind;
        if (kind == RULE_EH_RETURNING || kind == RULE_EH_RETURNED)
            return true;
    }
    return false;
}

/* Whether the sample struck at a function's first instruction, right behind another: libunwind
 * takes it for what it has seen before, the address that the other's last call would return to. */
static bool is_first_instruction(struct unwinder *u)
{
    uint64_t pc = u->path[u->depth - 1].pc;
    return rule_cache_function(u->cache, pc) != rule_cache_function(u->cache, pc - 1);
}

static uint64_t our_pc(const struct unwinder *u, unsigned i)
{
    return u->path[u->depth - 1 - i].pc;
}

static bool same_pc(uint64_t theirs, uint64_t ours)
{
    return theirs == ours || theirs == ours + 1;
}

static bool is_in_module(uint64_t address)
{
    struct module_range range;
    return module_range_find(address, &range);
}

/* Whether our path has libunwind's frames and no others, up to where libunwind gave up. Of code
 * without unwind information libunwind takes rbp for its frame pointer; where the code has no frame
 * of its own, as gmp's assembly, that misses the caller, which our path has; or rbp points to data,
 * and what libunwind finds there is no code: that is where it gave up. Its stack pointer is a guess from
 * there on, so it may come to data in a later frame, too, as from .fini. */
static bool has_their_frames(struct per_thread *t, unsigned depth)
{
    struct unwinder *u = &t->unwinder;
    unsigned k = 0;
    bool has_guessed = false;
    for (unsigned i = 0; i < depth; i++, k++) {
        uint64_t theirs = (uint64_t)(uintptr_t)t->pcs[i];
        bool is_guess =
            k > 0 && k < u->depth && rule_cache_get(u->cache, our_pc(u, k - 1)).kind == RULE_NO_FDE;
        if (is_guess && !same_pc(theirs, our_pc(u, k))) {
            has_guessed = true;
            k += is_in_module(theirs);
        }
        if (k >= u->depth || !same_pc(theirs, our_pc(u, k)))
            return has_guessed && !is_in_module(theirs);
    }
    return true;
}

/* Our pcs are return addresses - 1, except where a signal struck; libunwind's are not adjusted.
 * Where it gave up early, and we came to the program's entry, the frames that it has must be ours.
 */
static void compare(struct per_thread *t, ucontext_t *context)
{
    unsigned depth = run_step(t, context);
    struct unwinder *u = &t->unwinder;
    if (unwind(u, context) != UNWIND_COMPLETE || is_resuming(u) || is_first_instruction(u))
        return;
    bool equal = has_their_frames(t, depth);
    atomic_fetch_add(&result.checked, 1);
    atomic_fetch_add(!equal             ? &result.different
                     : depth < u->depth ? &result.shorter
                                        : &result.equal,
                     1);
    if (!equal && getenv("UNWIND_VERBOSE")) {
        fprintf(stderr, "different: ours %u, unw_step %u\n", u->depth, depth);
        for (unsigned i = 0; i < depth || i < u->depth; i++)
            fprintf(stderr, "  %16lx %16lx\n", i < u->depth ? u->path[u->depth - 1 - i].pc : 0,
                    i < depth ? (uint64_t)(uintptr_t)t->pcs[i] : 0);
    }
}

static void on_sample(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    struct per_thread *t = self;
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    uint64_t now = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    bool was_running = now - t->last_cpu > period_ns / 4;
    t->last_cpu = now;
    if (result.stop || !was_running)
        return;
    in_handler = true;
    uint64_t number = atomic_fetch_add(&result.samples, 1);
    enum method method = number / BLOCK % METHODS;
    uint64_t before = __rdtsc();
    unsigned depth = run(method, t, context);
    uint64_t ticks = __rdtsc() - before;
    uint64_t at = atomic_fetch_add(&result.timed[method], 1);
    if (at < MAX_TIMES)
        result.times[method][at] = (uint32_t)ticks;
    atomic_fetch_add(&result.frames[method], depth);
    if (number % CHECK_EVERY == 0)
        compare(t, context);
    in_handler = false;
}

/* Every thread has a timer on the wall clock: those of CPU clocks expire at scheduler ticks only.
 * Samples that find their thread waiting are left out. */
static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    struct itimerspec spec = {.it_interval.tv_nsec = (long)period_ns,
                              .it_value.tv_nsec = (long)period_ns};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &spec, NULL);
}

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    begin_thread();
    start_timer();
    return start.function(start.argument);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    struct start *start = malloc(sizeof *start);
    *start = (struct start){function, argument};
    return real(id, attributes, run_thread, start);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The mean without the slowest hundredth: threads are preempted now and then. The times are sorted.
 */
static double mean_of_99_percent(unsigned method, uint64_t n)
{
    uint64_t counted = n - n / 100;
    double sum = 0;
    for (uint64_t i = 0; i < counted; i++)
        sum += result.times[method][i];
    return sum / (double)counted;
}

static FILE *out; /* opened at once: xz forbids itself to create files later (Landlock) */

__attribute__((destructor)) static void finish(void)
{
    result.stop = 1;
    if (!out)
        return;
    double rate = ticks_per_ns();
    fprintf(out, "samples %lu\n", result.samples);
    for (unsigned end = 0; end < 8; end++)
        fprintf(out, "end%u %lu\n", end, result.ends[end]);
    fprintf(out, "checked %lu\nequal %lu\nshorter %lu\ndifferent %lu\n", result.checked,
            result.equal, result.shorter, result.different);
    for (unsigned m = 0; m < METHODS; m++) {
        uint64_t n = result.timed[m] < MAX_TIMES ? result.timed[m] : MAX_TIMES;
        if (n == 0)
            continue;
        qsort(result.times[m], n, sizeof result.times[m][0], by_value);
        double depth = (double)result.frames[m] / (double)result.timed[m];
        fprintf(out, "%s_depth %.2f\n", method_name[m], depth);
        fprintf(out, "%s_mean_ns %.1f\n", method_name[m], mean_of_99_percent(m, n) / rate);
        fprintf(out, "%s_median_ns %.1f\n", method_name[m], result.times[m][n / 2] / rate);
    }
    if (out != stderr)
        fclose(out);
}

__attribute__((constructor)) static void start(void)
{
    static char path[4096];
    const char *report = getenv("UNWIND_REPORT");
    out = report ? fopen(report, "w") : stderr;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    modules_init(path, &(struct known_code){.own = (uintptr_t)start});
    module_ranges_refresh();
    fault_handler_address = (void *)(uintptr_t)on_fault;
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGBUS, &fault, NULL);
    void *warm_up[4];
    unw_backtrace(warm_up, 4);
    struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    const char *rate = getenv("UNWIND_RATE");
    period_ns = 1000000000u / (rate ? (uint64_t)atol(rate) : 1000);
    begin_thread();
    start_timer();
}
