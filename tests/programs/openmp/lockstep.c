/* lockstep SCALE: phases, in which it compares the agent's states of threads with what they do.
 *
 * A body of a phase blocks until a thread beside OpenMP ends it. This one waits until nothing moves:
 * each other thread sleeps, in a body or in a wait of the runtime or of libc, or waits busily. Only
 * it can wake them, so what they do is known, however busy the machine is. To the agent a body is work, and
 * nothing else. It compares, then ends one body: the one that ends first by a clock of its own. For
 * each phase the program prints
 *     phase NAME LOOKS STILL WORKING WRONG
 * the number of looks, how often all threads slept, the sum of the threads in bodies, and how many
 * states were wrong. */
#define _GNU_SOURCE
#include "agents/common/thread-slots.c"
#include "tests/tools/sleeping-threads.h"

#include <dirent.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* hpcrun's, if that runs the program. */
extern struct agent_slots hpctoolkit_thread_slots __attribute__((weak));

/* The runtime of the compiler. */
#ifdef __clang__
#define RUNTIME RUNTIME_OMPT
#else
#define RUNTIME RUNTIME_GOMP
#endif

enum { MAX_THREADS = 256 };

static int scale;

/* -------- bodies -------- */

/* Where a thread blocks in its bodies. */
static struct gate {
    _Atomic pid_t tid;
    _Atomic int end;       /* of its body, in milliseconds of `now` */
    _Atomic int is_closed; /* 1: it is in a body */
} gates[MAX_THREADS];
static _Atomic int gate_count;
static _Atomic int now; /* changes only while nothing moves */

/* By a bare system call: no wrapper of libc sees that the thread waits. */
static void sleep_while_closed(struct gate *gate)
{
    long result = SYS_futex;
    register struct timespec *timeout __asm__("r10") = NULL;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(&gate->is_closed), "S"(FUTEX_WAIT_PRIVATE), "d"(1), "r"(timeout)
                     : "rcx", "r11", "memory");
}

__attribute__((noinline)) void body(int milliseconds)
{
    static __thread struct gate *gate;
    if (!gate) {
        gate = &gates[gate_count++];
        gate->tid = gettid();
    }
    gate->end = now + milliseconds;
    gate->is_closed = 1;
    while (gate->is_closed)
        sleep_while_closed(gate);
}

/* Ends the body that is the next one to end, if there is any. */
static void end_a_body(void)
{
    struct gate *first = NULL;
    for (struct gate *gate = gates; gate < gates + gate_count; gate++)
        if (gate->is_closed && (!first || gate->end < first->end))
            first = gate;
    if (!first)
        return;
    now = first->end;
    first->is_closed = 0;
    syscall(SYS_futex, &first->is_closed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool is_in_body(pid_t tid)
{
    for (struct gate *gate = gates; gate < gates + gate_count; gate++)
        if (gate->tid == tid)
            return gate->is_closed;
    return false;
}

/* -------- the thread that looks -------- */

static struct {
    long looks, working, wrong;
    long still; /* looks when no thread waited busily */
} seen;
static _Atomic bool is_looking;
static _Atomic bool may_spin;    /* threads may wait busily */
static _Atomic uint32_t workers; /* that the runtime has; 0: not compared */

static enum agent_slot_state agents_state(pid_t tid)
{
    for (uint32_t i = 0; i < hpctoolkit_thread_slots.end; i++) {
        const struct agent_slot *slot = agent_slot_at(&hpctoolkit_thread_slots, i);
        if (slot->tid == tid && slot_is_of(slot, RUNTIME))
            return slot_state(slot);
    }
    return AGENT_SLOT_FREE;
}

/* libomp looks for work and yields the CPU in turns. */
static bool waits_busily(pid_t tid)
{
    const enum agent_slot_state state = agents_state(tid);
    return may_spin && !is_in_body(tid) && (state == AGENT_SLOT_IDLE || state == AGENT_SLOT_ASLEEP);
}

/* What the other threads do. */
struct motion {
    long slept;   /* how often they have slept: all that sleep */
    int spinning; /* wait busily, says the agent */
    int moving;   /* all others */
};

static struct motion motion_now(void)
{
    struct motion motion = {0};
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const pid_t tid = atoi(entry->d_name);
        long times = 0;
        if (tid == 0 || tid == gettid())
            continue;
        if (thread_sleeps(entry->d_name, &times))
            motion.slept += times;
        else if (waits_busily(tid))
            motion.spinning++;
        else
            motion.moving++;
    }
    closedir(folder);
    return motion;
}

/* A thread that was asleep at both times, and did not fall asleep between them, slept all the time:
 * so there was an instant when all did. Returns whether that is so; else threads may wait busily. */
static bool wait_until_nothing_moves(void)
{
    for (;; sched_yield()) {
        const struct motion before = motion_now(), behind = motion_now();
        if (before.moving + behind.moving == 0 && before.slept == behind.slept)
            return before.spinning + behind.spinning == 0;
    }
}

/* A thread that waits busily may be on its way to a body, and another one wait for it. Only what is
 * true in bodies is certain then. */
static void look(bool all_sleep)
{
    seen.looks++;
    seen.still += all_sleep;
    for (struct gate *gate = gates; gate < gates + gate_count; gate++) {
        seen.working += gate->is_closed;
        seen.wrong += gate->is_closed && agents_state(gate->tid) != AGENT_SLOT_WORKING;
    }
    for (uint32_t i = 0; i < hpctoolkit_thread_slots.end && all_sleep; i++) {
        const struct agent_slot *slot = agent_slot_at(&hpctoolkit_thread_slots, i);
        seen.wrong += slot_is_of(slot, RUNTIME) && slot_state(slot) == AGENT_SLOT_WORKING &&
                      !is_in_body(slot->tid);
    }
    const struct slot_counts counts = slots_count(&hpctoolkit_thread_slots, RUNTIME);
    seen.wrong += all_sleep && workers && counts.pool + counts.others != workers;
}

static void *looker(void *unused)
{
    for (;; end_a_body()) {
        const bool all_sleep = wait_until_nothing_moves();
        if (is_looking)
            look(all_sleep);
    }
    return unused;
}

/* -------- phases -------- */

#define PHASE __attribute__((noinline)) static void

PHASE balanced(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel
        body(20);
    }
}

PHASE imbalanced(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel
        body(8 * (omp_get_thread_num() + 1));
    }
}

PHASE serial(void)
{
    for (int round = 0; round < scale; round++) {
        body(10);
#pragma omp parallel
        body(10);
    }
}

PHASE dynamic(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 4 * scale; i++)
        body(4 + i % 5);
}

PHASE barriers(void)
{
#pragma omp parallel
    for (int round = 0; round < scale; round++) {
        body(omp_get_thread_num() % 2 ? 15 : 5);
#pragma omp barrier
    }
}

PHASE single(void)
{
#pragma omp parallel
    for (int round = 0; round < scale; round++) {
#pragma omp single
        body(10);
        body(10);
    }
}

PHASE convoy(void)
{
#pragma omp parallel
    for (int round = 0; round < scale / 2; round++)
#pragma omp critical
        body(5);
}

PHASE named_convoy(void)
{
#pragma omp parallel
    for (int round = 0; round < scale / 2; round++) {
        body(5);
#pragma omp critical(name)
        body(5);
    }
}

PHASE locks(void)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (int round = 0; round < scale / 4; round++) {
        omp_set_lock(&lock);
        body(8);
        omp_unset_lock(&lock);
        body(8);
    }
}

PHASE ordered(void)
{
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 2 * scale; i++) {
        body(6);
#pragma omp ordered
        body(4);
    }
}

PHASE sections(void)
{
    for (int round = 0; round < scale; round++) {
#pragma omp parallel sections
        {
#pragma omp section
            body(20);
#pragma omp section
            body(10);
        }
    }
}

static void fib(int n)
{
    if (n < 2) {
        body(10);
        return;
    }
#pragma omp task
    fib(n - 1);
#pragma omp task
    fib(n - 2);
    body(5);
#pragma omp taskwait
}

PHASE tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 8; round++)
        fib(5);
}

PHASE producer(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * scale; i++) {
        body(3);
#pragma omp task
        body(7);
    }
}

PHASE taskgroups(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale; round++) {
#pragma omp taskgroup
        for (int i = 0; i < 3; i++)
#pragma omp task
            body(6);
        body(4);
    }
}

PHASE taskloop(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 4; round++)
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 9; i++)
            body(6);
}

/* The construct ends while its tasks run: its thread works in the body behind it, creates others, and
 * executes some of them while it waits for the others. */
PHASE left_taskloop(void)
{
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < scale / 4; round++) {
#pragma omp taskloop grainsize(1) nogroup
        for (int i = 0; i < 9; i++)
            body(6);
        body(4);
#pragma omp taskloop grainsize(1) nogroup
        for (int i = 0; i < 3; i++)
            body(5);
#pragma omp taskwait
        body(3);
    }
}

/* With clang, each task is executed in three parts. */
PHASE untied(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * scale; i++) {
#pragma omp task untied
        {
            body(3);
#pragma omp task
            body(4);
#pragma omp taskyield
            body(5);
#pragma omp taskwait
            body(6);
        }
    }
}

/* With more tasks than libomp creates at once: tasks of its own create them. */
PHASE split_taskloop(void)
{
    const int tasks = 12 * omp_get_max_threads();
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < tasks; i++)
        body(2 + i % 3);
}

static void *run_region(void *unused)
{
#pragma omp parallel
    {
        body(8 * (omp_get_thread_num() + 1));
#pragma omp barrier
        body(5);
    }
    return unused;
}

/* The initial thread is of no use to OpenMP while it joins another one. Each has a team of its own.
 * */
PHASE threads(void)
{
    const uint32_t team = (uint32_t)omp_get_max_threads();
    workers = team - 1 + team;
    for (int round = 0; round < scale / 4; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_region, NULL);
        pthread_join(thread, NULL);
    }
    workers = 0;
}

/* Waiting by functions of libc, in a region. */
PHASE libc_waits(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_barrier_t all_here;
    static sem_t permits;
    pthread_barrier_init(&all_here, NULL, (unsigned)omp_get_max_threads());
    sem_init(&permits, 0, 1);
#pragma omp parallel
    for (int round = 0; round < scale / 4; round++) {
        body(5 * (omp_get_thread_num() + 1));
        pthread_barrier_wait(&all_here);
        sem_wait(&permits);
        body(6);
        sem_post(&permits);
        pthread_mutex_lock(&lock);
        body(4);
        pthread_mutex_unlock(&lock);
    }
}

static void run(const char *name, void (*phase)(void), bool spins)
{
    memset(&seen, 0, sizeof seen);
    may_spin = spins && RUNTIME == RUNTIME_OMPT;
    is_looking = true;
    phase();
    is_looking = may_spin = false;
    printf("phase %s %ld %ld %ld %ld\n", name, seen.looks, seen.still, seen.working, seen.wrong);
}
#define RUN(phase)      run(#phase, phase, false)
#define RUN_BUSY(phase) run(#phase, phase, true) /* libomp waits busily */

int main(int count, char **arguments)
{
    pthread_t thread;
    scale = count > 1 ? atoi(arguments[1]) : 20;
    if (!&hpctoolkit_thread_slots || pthread_create(&thread, NULL, looker, NULL) != 0)
        return 1;
    RUN(balanced);
    RUN(imbalanced);
    RUN(serial);
    RUN(dynamic);
    RUN(barriers);
    RUN(single);
    RUN_BUSY(convoy);
    RUN_BUSY(named_convoy);
    RUN_BUSY(locks);
    RUN_BUSY(ordered);
    RUN(sections);
    RUN_BUSY(tasks);
    RUN_BUSY(producer);
    RUN_BUSY(taskgroups);
    RUN_BUSY(taskloop);
    RUN_BUSY(left_taskloop);
    RUN_BUSY(untied);
    RUN_BUSY(split_taskloop);
    RUN(threads);
    RUN(libc_waits);
    return 0;
}
