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
#include "tests/programs/openmp/agent-states.h"
#include "tests/programs/openmp/construct-phases.h"
#include "tests/tools/sleeping-threads.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

/* -------- bodies -------- */

/* Where a thread blocks in its bodies. */
static struct gate {
    _Atomic pid_t tid;
    _Atomic int end;       /* of its body, in milliseconds of `now` */
    _Atomic int is_closed; /* 1: it is in a body */
    bool is_seen;          /* that was so when the other threads were looked at last */
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

/* A thread that waited busily may come to a body between a look and the end of a body. That body must not
 * end before a look has counted it. */
static void see_bodies(void)
{
    for (struct gate *gate = gates; gate < gates + gate_count; gate++)
        gate->is_seen = gate->is_closed;
}

/* Ends the one of the seen bodies that is the next one to end, if there is any. */
static void end_a_body(void)
{
    struct gate *first = NULL;
    for (struct gate *gate = gates; gate < gates + gate_count; gate++)
        if (gate->is_seen && (!first || gate->end < first->end))
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
static _Atomic bool may_spin; /* threads may wait busily */

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
        seen.working += gate->is_seen;
        seen.wrong += gate->is_seen && agents_state(gate->tid) != AGENT_SLOT_WORKING;
    }
    for (uint32_t i = 0; i < hpctoolkit_thread_slots.end && all_sleep; i++) {
        const struct agent_slot *slot = agent_slot_at(&hpctoolkit_thread_slots, i);
        seen.wrong += slot_is_of(slot, RUNTIME) && slot_state(slot) == AGENT_SLOT_WORKING &&
                      !is_in_body(slot->tid);
    }
    const struct slot_counts counts = slots_count(&hpctoolkit_thread_slots, RUNTIME);
    seen.wrong += all_sleep && workers && counts.pool + counts.others != workers;
    seen.wrong += all_sleep ? threads_that_take_tasks() : 0;
}

static void *looker(void *unused)
{
    for (;; end_a_body()) {
        const bool all_sleep = wait_until_nothing_moves();
        see_bodies();
        if (is_looking)
            look(all_sleep);
    }
    return unused;
}

static void run(const struct phase *phase)
{
    memset(&seen, 0, sizeof seen);
    may_spin = phase->spins && RUNTIME == RUNTIME_OMPT;
    is_looking = true;
    phase->run();
    is_looking = may_spin = false;
    printf("phase %s %ld %ld %ld %ld\n", phase->name, seen.looks, seen.still, seen.working,
           seen.wrong);
}

int main(int count, char **arguments)
{
    pthread_t thread;
    scale = count > 1 ? atoi(arguments[1]) : 20;
    if (!&hpctoolkit_thread_slots || pthread_create(&thread, NULL, looker, NULL) != 0)
        return 1;
    for (const struct phase *phase = phases; phase->run; phase++)
        run(phase);
    return 0;
}
