/* usage: steps WORKERS STEPS
 *
 * Checks the logical call path, found as minicilk-introspect.h describes, at every instruction of
 * windows that begin at random instants: in procedures, in the inlined runtime, in its slow paths
 * and in the scheduler. The processor's trap flag single-steps worker threads. At every instruction
 * libunwind unwinds the C stack down to cilk_call_base, and the worker's base gives the rest.
 *
 * The program knows the truth: every activation gets its place in the spawn tree from its parent,
 * as an argument. At each step the call sites around a frame must give the same place
 *   - for every body's frame on the C stack, and
 *   - for every ancestor in the heap, up to the root.
 * A place is a number in base 4: a leading 1, then the spawn sites. */
#define UNW_LOCAL_ONLY
#include <errno.h>
#include <libunwind.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <minicilk-runtime.h>

enum { TRAP_FLAG = 0x100, WINDOW = 2500, DEPTH = 7, MOST_FRAMES = 64, SITES = 3 };

/* ---- The program that is stepped ---- */

/* Bodies have a section of their own, so that their frames are recognized. */
CILK_PROC(walk, uint64_t place; uint64_t seed; int depth; uint64_t * sum; uint64_t parts[SITES];);
extern __typeof__(walk) walk __attribute__((section("walk_text")));
extern const char __start_walk_text[], __stop_walk_text[];

static const void *site[SITES + 1]; /* return addresses of the calls, learned in a serial run */
static bool learning;

static void learn(uint64_t place, const void *return_address)
{
    const void **known = &site[place % 4];
    if (place == 1)
        return;
    if (*known && *known != return_address) {
        fprintf(stderr, "spawn %d has two return addresses\n", (int)(place % 4));
        exit(1);
    }
    *known = return_address;
}

static uint64_t next_random(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

CILK_BODY(walk)
{
    CILK_BEGIN(walk);
    if (learning)
        learn(f->place, __builtin_return_address(0));
    memset(f->parts, 0, sizeof f->parts);
    f->seed = next_random(f->seed);
    if (f->depth == 0 || f->seed % 8 == 0) {
        *f->sum = f->place;
        CILK_RETURN;
    }
    CILK_SPAWN(walk, a->place = f->place * 4 + 1; a->seed = f->seed + 1; a->depth = f->depth - 1;
               a->sum = &f->parts[0]);
    CILK_SPAWN(walk, a->place = f->place * 4 + 2; a->seed = f->seed + 2; a->depth = f->depth - 1;
               a->sum = &f->parts[1]);
    CILK_SYNC();
    if (f->seed % 4 == 1)
        CILK_SPAWN(walk, a->place = f->place * 4 + 3; a->seed = f->seed + 3;
                   a->depth = f->depth - 1; a->sum = &f->parts[2]);
    CILK_SYNC();
    *f->sum = f->place + f->parts[0] + f->parts[1] + f->parts[2];
    CILK_END;
}

/* ---- Counters; the trap handlers of all worker threads add to them ---- */

static struct {
    _Atomic long steps, in_bodies, in_runtime, in_scheduler, stolen, sites, callers, wrong;
    _Atomic long windows;
} seen;

static void count(_Atomic long *counter, long by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* ---- The check of one step ---- */

static bool within(const void *address, const void *begin, const void *end)
{
    return (uintptr_t)address >= (uintptr_t)begin && (uintptr_t)address < (uintptr_t)end;
}

/* The bodies on a C stack, innermost first. */
struct bodies {
    int count;
    bool reached_base;
    const void *ip[MOST_FRAMES]; /* where the body is: at the leaf, or behind a call */
};

static struct bodies unwind(ucontext_t *context)
{
    struct bodies bodies = {0};
    unw_cursor_t cursor;
    unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME);
    bool leaf = true;
    do {
        unw_word_t ip = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        const void *code = (const char *)ip - (leaf ? 0 : 1);
        if (within(code, minicilk_introspection.base_begin, minicilk_introspection.base_end)) {
            bodies.reached_base = true;
            break;
        }
        if (within(code, __start_walk_text, __stop_walk_text) && bodies.count < MOST_FRAMES)
            bodies.ip[bodies.count++] = (const void *)ip;
        leaf = false;
    } while (unw_step(&cursor) > 0);
    return bodies;
}

/* The number of the spawn that returns to the address; 0: none. */
static uint64_t spawn_at(const void *return_address)
{
    for (uint64_t i = 1; i <= SITES; i++) {
        if (site[i] == return_address)
            return i;
    }
    return 0;
}

/* The place of a frame by the chain in the heap; 0 if the chain contradicts the frames. */
static uint64_t place_by_chain(const struct minicilk_frame *frame)
{
    uint64_t digits = 0;
    int length = 0;
    const struct walk *const first = (const struct walk *)frame;
    for (; frame->parent; frame = frame->parent, length++) {
        const struct walk *child = (const struct walk *)frame;
        const struct walk *parent = (const struct walk *)frame->parent;
        const uint64_t spawn = spawn_at(frame->site);
        if (length > DEPTH || spawn == 0 || child->place != parent->place * 4 + spawn)
            return 0;
        digits |= spawn << (2 * length);
    }
    const uint64_t place = UINT64_C(1) << (2 * length) | digits;
    return ((const struct walk *)frame)->place == 1 && first->place == place ? place : 0;
}

/* Whether the bodies on the worker's C stack, outermost first, are at the places that the calls
 * give. */
static bool bodies_are_right(const struct worker *worker, const struct bodies *bodies)
{
    const struct minicilk_frame *base = atomic_load(&worker->base);
    if (!base || base != (bodies->count > 1 ? worker->slots[0].frame : base))
        return false;
    uint64_t place = place_by_chain(base);
    count(&seen.sites, bodies->count);
    for (int i = 0; i + 1 < bodies->count; i++) {
        const struct minicilk_slot *slot = &worker->slots[i];
        const uint64_t spawn = spawn_at(bodies->ip[bodies->count - 1 - i]);
        if (place == 0 || spawn == 0 || ((const struct walk *)slot->frame)->place != place)
            return false;
        place = place * 4 + spawn;
        if (((const struct walk *)slot->spare)->place != place)
            return false;
    }
    return place != 0;
}

static struct worker *worker_of_thread(void)
{
    static _Thread_local pid_t tid;
    if (tid == 0)
        tid = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < minicilk_runtime.count; i++) {
        if (atomic_load(&minicilk_runtime.workers[i].tid) == tid)
            return &minicilk_runtime.workers[i];
    }
    return NULL;
}

static void check_step(ucontext_t *context)
{
    const void *ip = (const void *)context->uc_mcontext.gregs[REG_RIP];
    const struct worker *worker = worker_of_thread();
    const struct bodies bodies = unwind(context);
    count(&seen.steps, 1);
    if (bodies.count == 0) {
        count(&seen.in_scheduler, 1);
        return;
    }
    count(within(ip, __start_walk_text, __stop_walk_text) ? &seen.in_bodies : &seen.in_runtime, 1);
    if (atomic_load(&worker->inlined.head) > worker->slots)
        count(&seen.stolen, 1);
    if (!bodies.reached_base || atomic_load(&worker->state) != MINICILK_WORKING ||
        atomic_load(&minicilk_live.n_w) < 1 || !bodies_are_right(worker, &bodies))
        count(&seen.wrong, 1);
}

/* ---- The root's caller, from any worker ---- */

static MINICILK_OPAQUE uint64_t run_tree(uint64_t seed)
{
    uint64_t sum = 0;
    CILK_RUN(walk, a->place = 1; a->seed = seed; a->depth = DEPTH; a->sum = &sum);
    return sum;
}

static MINICILK_OPAQUE uint64_t run_trees(uint64_t seed)
{
    return run_tree(2 * seed) + run_tree(2 * seed + 1);
}

/* The path continues in run_tree, run_trees and main, on another thread's stack. */
static void check_caller(void)
{
    if (!atomic_load(&minicilk_live.running))
        return;
    ucontext_t context;
    memset(&context, 0, sizeof context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)atomic_load(&minicilk_live.caller_pc);
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)atomic_load(&minicilk_live.caller_sp);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)atomic_load(&minicilk_live.caller_bp);
    static uint64_t (*const callers[])(uint64_t) = {run_tree, run_trees};
    unw_cursor_t cursor;
    unw_init_local2(&cursor, &context, 0);
    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
        unw_proc_info_t procedure;
        if (unw_get_proc_info(&cursor, &procedure) != 0 ||
            procedure.start_ip != (unw_word_t)callers[i] || unw_step(&cursor) <= 0) {
            count(&seen.wrong, 1);
            return;
        }
    }
    count(&seen.callers, 1);
}

/* ---- Windows ---- */

static _Thread_local volatile int steps_left;

/* Threads end with signals blocked: no window may be open then. */
static atomic_bool stop;

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    const int saved_errno = errno;
    check_step(context);
    if (--steps_left <= 0 || atomic_load(&stop))
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    errno = saved_errno;
}

static void on_window(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    if (steps_left > 0 || atomic_load(&stop))
        return;
    const int saved_errno = errno;
    const struct worker *worker = worker_of_thread();
    if (worker && atomic_load(&worker->state) == MINICILK_WORKING)
        check_caller();
    count(&seen.windows, 1);
    steps_left = WINDOW;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    errno = saved_errno;
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* Opens windows in all workers, one after another, until `stop`. */
static void *open_windows(void *unused)
{
    (void)unused;
    const struct timespec pause = {.tv_nsec = 200 * 1000};
    for (int i = 0; !atomic_load(&stop); i = (i + 1) % minicilk_runtime.count) {
        syscall(SYS_tgkill, getpid(), atomic_load(&minicilk_runtime.workers[i].tid), SIGUSR1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void learn_sites(void)
{
    minicilk_init(1);
    learning = true;
    run_tree(3);
    learning = false;
    minicilk_shutdown();
}

static void step(int workers, long steps)
{
    pthread_t opener;
    minicilk_init(workers);
    handle(SIGTRAP, on_trap);
    handle(SIGUSR1, on_window);
    pthread_create(&opener, NULL, open_windows, NULL);
    for (uint64_t seed = 1; atomic_load(&seen.steps) < steps; seed++)
        run_trees(seed);
    atomic_store(&stop, true);
    pthread_join(opener, NULL);
    minicilk_shutdown();
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: steps WORKERS STEPS\n");
        return 2;
    }
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
    learn_sites();
    step(atoi(argv[1]), atol(argv[2]));
    printf(
        "windows %ld steps %ld bodies %ld runtime %ld scheduler %ld stolen %ld sites %ld callers %ld "
        "wrong %ld\n",
        seen.windows, seen.steps, seen.in_bodies, seen.in_runtime, seen.in_scheduler, seen.stolen,
        seen.sites, seen.callers, seen.wrong);
    return seen.wrong != 0;
}
