#include "hpcrun/outside/foreign-waits.h"

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/plain-threads.h"
#include "hpcrun/process/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 4096

/* Looking at threads takes at most 1/80 of the CPUs' time: if there are many threads, each is looked at less often. */
#define PARTS_PER_LOOKS 80

/* Looks whose time's records have not come yet, and bytes of the stack that each copies. The rest of the stack is
 * read when it is unwound, if the thread still waits then (foreign-memory.h). */
#define MAX_LOOKS  1024
#define LOOK_BYTES 4096 /* a page */

struct watched {
    struct watched *next; /* with a tid of the same slot */
    int tid;
    int call, schedule;      /* its files syscall and schedstat; negative: they can't be opened */
    struct agent_slot *slot; /* NULL without memory */
    uint64_t due, planned;   /* CLOCK_MONOTONIC of the next look, and the period before it */
    unsigned looks;          /* that found it waiting */
    uint64_t ready, unpaid;  /* the scheduler's count at the last look; what no sample has paid */
};

struct look {
    struct perf_sample sample;
    uint8_t stack[LOOK_BYTES];
};

static struct {
    bool is_on;
    struct watched *slots[SLOTS];
    uint32_t count;
    uint64_t period, mean, cost; /* ns: asked for; in use; CPU time of a look, on average */
    uint64_t random, forbidden, without_descriptors;
    struct look *looks; /* MAX_LOOKS, a ring */
    uint32_t head, tail;
} waits = {.cost = 20000, .random = 0x9e3779b97f4a7c15u};

static struct watched **place_of(int tid)
{
    struct watched **at = &waits.slots[(unsigned)tid % SLOTS];
    while (*at && (*at)->tid != tid)
        at = &(*at)->next;
    return at;
}

/* Uniform in half to one and a half times the mean, so that looks have no rhythm. */
static void plan(struct watched *thread)
{
    waits.random = waits.random * 6364136223846793005u + 1442695040888963407u;
    thread->planned = waits.mean / 2 + (uint64_t)((unsigned __int128)waits.random * waits.mean >> 64);
    thread->due += thread->planned;
}

/* ---- threads ---- */

static void set_state(const struct watched *thread, bool waits_now)
{
    if (thread->slot)
        atomic_store(&thread->slot->state, waits_now ? AGENT_SLOT_WAITING : AGENT_SLOT_WORKING);
}

static struct watched *add(int tid)
{
    struct watched **at = place_of(tid), *added = *at ? NULL : calloc(1, sizeof *added);
    struct scheduled now = {0};
    if (!added)
        return *at;
    *at = added;
    if (++waits.count > 1 && plain_threads_begin())
        foreign_modules_visit(plain_threads_add);
    own_slot = NULL;
    slot_take(tid, 0, 0, 0);
    *added = (struct watched){.tid = tid,
                              .call = measured_open_of_thread(tid, "syscall"),
                              .schedule = measured_open_of_thread(tid, "schedstat"),
                              .slot = own_slot,
                              .due = sys_clock(CLOCK_MONOTONIC)};
    waits.without_descriptors += added->call == -EMFILE || added->call == -ENFILE;
    plan(added);
    added->due -= added->planned / 2; /* the first phase: uniform in a period, about */
    if (schedule_read(added->schedule, &now))
        added->ready = now.ready;
    return added;
}

void waits_add(int tid)
{
    if (waits.is_on)
        add(tid);
}

void waits_remove(int tid)
{
    struct watched **at = place_of(tid), *its = *at;
    if (!its)
        return;
    *at = its->next;
    close(its->call);
    close(its->schedule);
    own_slot = its->slot;
    slot_release();
    free(its);
    waits.count--;
}

void waits_switch(int tid, bool runs, bool is_preempted)
{
    struct watched *thread = waits.is_on ? add(tid) : NULL;
    if (thread)
        set_state(thread, !runs && !is_preempted);
}

uint64_t waits_enter(int tid, bool is_waiting)
{
    struct watched *thread = waits.is_on ? add(tid) : NULL;
    if (!thread)
        return 0;
    uint64_t unpaid = is_waiting ? 0 : thread->unpaid;
    thread->unpaid -= unpaid;
    set_state(thread, is_waiting);
    own_slot = thread->slot;
    return unpaid;
}

/* ---- looks ---- */

/* The thread's instruction and stack pointer, if it waits in the kernel: the last two of
 *     202 0x7ffe... 0x80 0x0 0x0 0x0 0x0 0x7ffe6c1 0x7f00c2e    in a system call
 *     -1 0x7ffe6c1 0x7f00c2e                                    elsewhere, as in a page fault
 * A thread that runs, or could run, has "running". */
static bool find_place(const struct watched *thread, uint64_t *sp, uint64_t *pc)
{
    char text[256];
    const char *last, *before;
    long size = sys4(SYS_pread64, thread->call, text, sizeof text - 1, 0);
    waits.forbidden += size == -EPERM || size == -EACCES || thread->call == -EACCES;
    if (size <= 0)
        return false;
    text[size] = '\0';
    last = strrchr(text, ' ');
    before = last ? memrchr(text, ' ', (size_t)(last - text)) : NULL;
    return before && sscanf(before, " %" SCNx64 " %" SCNx64, sp, pc) == 2 && *sp != 0;
}

static size_t read_stack(uint64_t sp, uint8_t *to)
{
    size_t to_end_of_page = LOOK_BYTES - sp % LOOK_BYTES;
    if (measured_read(sp, to, LOOK_BYTES))
        return LOOK_BYTES;
    return measured_read(sp, to, to_end_of_page) ? to_end_of_page : 0;
}

enum found { FOUND_RUNNING, FOUND_WAITING, FOUND_MOVED };

/* The thread may have gone on while its stack was copied: then the copy is of no use. */
static enum found look(const struct watched *thread, struct look *look)
{
    uint64_t sp, pc, sp_after, pc_after;
    look->sample = (struct perf_sample){.tid = thread->tid, .is_64_bit = true, .is_waiting = true, .stack = look->stack};
    if (!find_place(thread, &sp, &pc))
        return FOUND_RUNNING;
    look->sample.time = sys_clock(CLOCK_MONOTONIC);
    look->sample.stack_bytes = read_stack(sp, look->stack);
    look->sample.registers[SAMPLED_SP] = sp;
    look->sample.registers[SAMPLED_PC] = pc;
    bool is_there = find_place(thread, &sp_after, &pc_after) && sp == sp_after && pc == pc_after;
    return is_there ? FOUND_WAITING : FOUND_MOVED;
}

static void count_ready(struct watched *thread)
{
    struct scheduled now;
    if (!schedule_read(thread->schedule, &now) || now.ready <= thread->ready)
        return;
    thread->unpaid += now.ready - thread->ready;
    thread->ready = now.ready;
}

/* A thread that is found waiting was ready before, at most for a short time: its ready time is read now and then. */
#define WAITING_LOOKS 8

/* Pays all periods that are over. */
static void look_at(struct watched *thread, uint64_t now)
{
    struct look *next = &waits.looks[waits.head % MAX_LOOKS];
    uint64_t pays = 0;
    for (; thread->due <= now; plan(thread))
        pays += waits.mean;
    if (waits.head - waits.tail == MAX_LOOKS)
        return;
    enum found found = look(thread, next);
    if (found == FOUND_MOVED)
        found = look(thread, next);
    if (found != FOUND_WAITING || thread->looks++ % WAITING_LOOKS == 0)
        count_ready(thread);
    if (found != FOUND_WAITING)
        return;
    next->sample.period = pays;
    waits.head++;
}

/* Of `looks` looks, which took so much CPU time. */
static void set_mean(uint64_t looks, uint64_t took)
{
    waits.cost = (waits.cost * 15 + took / looks) / 16;
    uint64_t least = waits.count * waits.cost * PARTS_PER_LOOKS / process.usable_cpus;
    waits.mean = waits.period > least ? waits.period : least;
}

uint64_t waits_look(void)
{
    if (!waits.looks)
        return UINT64_MAX;
    uint64_t now = sys_clock(CLOCK_MONOTONIC), began = sys_clock(CLOCK_THREAD_CPUTIME_ID), looks = 0;
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < SLOTS; i++)
        for (struct watched *thread = waits.slots[i]; thread; thread = thread->next) {
            if (thread->due <= now) {
                look_at(thread, now);
                looks++;
            }
            next = thread->due < next ? thread->due : next;
        }
    if (looks)
        set_mean(looks, sys_clock(CLOCK_THREAD_CPUTIME_ID) - began);
    now = sys_clock(CLOCK_MONOTONIC);
    return next > now + waits.mean / 2 ? next - now : waits.mean / 2;
}

const struct perf_sample *waits_first(uint64_t until)
{
    const struct look *first = waits.head == waits.tail ? NULL : &waits.looks[waits.tail % MAX_LOOKS];
    return first && first->sample.time < until ? &first->sample : NULL;
}

void waits_remove_first(void)
{
    waits.tail++;
}

static void add_that_runs_or_waits(int tid, void *data)
{
    uint64_t sp, pc;
    struct watched *thread = add(tid);
    (void)data;
    if (thread)
        set_state(thread, find_place(thread, &sp, &pc));
}

void waits_begin(void)
{
    if (process.config.events[0].kind != EVENT_REALTIME)
        return;
    waits.is_on = true;
    waits.period = waits.mean = process.config.events[0].period;
    waits.looks = malloc(MAX_LOOKS * sizeof *waits.looks);
    measured_visit_threads(add_that_runs_or_waits, NULL);
}

uint64_t waits_forbidden(void)
{
    return waits.forbidden;
}

uint64_t waits_without_descriptors(void)
{
    return waits.without_descriptors;
}
