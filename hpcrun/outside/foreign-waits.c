#include "hpcrun/outside/foreign-waits.h"

#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/outside/foreign-memory.h"
#include "hpcrun/outside/foreign-maps.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/linked-agents.h"
#include "hpcrun/process/process.h"
#include "lib/alloc.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS 4096

/* So many descriptors remain for the measurement's files, and for what else is read of the process. */
#define KEPT_FDS 10

/* Looking at threads takes at most 1/80 of the CPUs' time: if there are many threads, each is looked at less often. */
#define PARTS_PER_LOOKS 80

/* Looks whose time's records have not come yet, and the most bytes of the stack that each copies. The rest of a deeper
 * one is read when it is unwound, if the thread still waits then (foreign-memory.h): mostly 50 ms later. */
#define MAX_LOOKS  1024
#define LOOK_BYTES 61440u
#define PAGE       4096u

struct watched {
    struct watched *next; /* with a tid of the same slot */
    int tid;
    int call, schedule;      /* its files syscall and schedstat; negative: they can't be opened */
    struct agent_slot *slot; /* NULL without memory */
    uint64_t low, high;      /* the stack that it was last seen on; equal: none */
    size_t index;            /* in waits.all */
    uint64_t due, planned;   /* CLOCK_MONOTONIC of the next look, and the period before it */
    uint64_t pays;           /* the mean of such periods */
    bool waited;             /* at the last look */
    unsigned looks;
    uint64_t ready, unpaid;  /* the scheduler's count at the last look; what no sample has paid */
};

static struct {
    bool is_on;
    struct watched *slots[SLOTS];
    VEC(struct watched *) all;
    uint64_t period, mean, cost; /* ns: asked for; in use; CPU time of a look, on average */
    uint64_t random, forbidden, without_descriptors;
    int most_fds; /* the threads' files have lower descriptors */
    struct perf_sample *looks; /* MAX_LOOKS, a ring */
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
static uint64_t random_period(uint64_t mean)
{
    waits.random = waits.random * 6364136223846793005u + 1442695040888963407u;
    return mean / 2 + (uint64_t)((unsigned __int128)waits.random * mean >> 64);
}

/* A thread that ran is looked at half as often, and pays twice as much if it waits then. */
static void plan(struct watched *thread)
{
    thread->pays = waits.mean * (thread->waited ? 1 : 2);
    thread->planned = random_period(thread->pays);
    thread->due += thread->planned;
}

/* ---- threads ---- */

static void set_state(const struct watched *thread, bool waits_now)
{
    if (!thread->slot)
        return;
    if (!waits_now)
        slot_reset(thread->slot);
    else
        atomic_store(&thread->slot->state, AGENT_SLOT_WAITING);
}

/* The holder is the newest one that is known for all who wait for the lock. */
static void set_lock(const struct watched *thread, const struct perf_sample *sample)
{
    if (!thread->slot)
        return;
    atomic_store(&thread->slot->lock, sample->lock);
    atomic_store(&thread->slot->holder, sample->lock ? foreign_memory_note(thread->slot->number, sample->holder) : 0);
    for (size_t i = 0; i < waits.all.n && sample->lock; i++) {
        const struct agent_slot *slot = waits.all.at[i]->slot;
        if (slot && atomic_load_explicit(&slot->lock, memory_order_relaxed) == sample->lock)
            foreign_memory_note(slot->number, sample->holder);
    }
}

static void delist(const struct watched *thread)
{
    waits.all.at[thread->index] = waits.all.at[--waits.all.n];
    waits.all.at[thread->index]->index = thread->index;
}

static int open_of_thread(int tid, const char *name)
{
    int fd = measured_open_of_thread(tid, name);
    if (fd < waits.most_fds)
        return fd;
    close(fd);
    return -EMFILE;
}

static struct watched *add(int tid)
{
    struct watched **at = place_of(tid), *added = *at ? NULL : calloc(1, sizeof *added);
    struct scheduled now = {0};
    if (!added)
        return *at;
    *at = added;
    vec_push(&waits.all, added);
    if (waits.all.n > 1 && plain_threads_begin())
        foreign_modules_visit(plain_threads_add);
    own_slot = NULL;
    slot_take(tid, 0, 0, 0);
    *added = (struct watched){.tid = tid,
                              .index = waits.all.n - 1,
                              .call = open_of_thread(tid, "syscall"),
                              .schedule = open_of_thread(tid, "schedstat"),
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
    delist(its);
    free(its);
}

void waits_switch(int tid, bool runs, bool is_preempted)
{
    struct watched *thread = waits.is_on ? add(tid) : NULL;
    if (thread)
        set_state(thread, !runs && !is_preempted);
}

uint64_t waits_enter(const struct perf_sample *sample)
{
    struct watched *thread = waits.is_on ? add(sample->tid) : NULL;
    if (!thread)
        return 0;
    uint64_t unpaid = sample->is_waiting ? 0 : thread->unpaid;
    thread->unpaid -= unpaid;
    set_state(thread, sample->is_waiting);
    set_lock(thread, sample);
    own_slot = thread->slot;
    return unpaid;
}

/* ---- looks ---- */

/* The thread's instruction and stack pointer, if it waits in the kernel: the last two of
 *     202 0x7ffe... 0x80 0x0 0x0 0x0 0x0 0x7ffe6c1 0x7f00c2e    in a system call
 *     -1 0x7ffe6c1 0x7f00c2e                                    elsewhere, as in a page fault
 * A thread that runs, or could run, has "running". */
#define PLACE_BYTES 256

static bool find_place(const struct watched *thread, char text[PLACE_BYTES], uint64_t *sp, uint64_t *pc)
{
    char *last, *before;
    long size = sys4(SYS_pread64, thread->call, text, PLACE_BYTES - 1, 0);
    waits.forbidden += size == -EPERM || size == -EACCES || thread->call == -EACCES;
    if (size <= 0)
        return false;
    text[size] = '\0';
    last = strrchr(text, ' ');
    before = last ? memrchr(text, ' ', (size_t)(last - text)) : NULL;
    if (!before)
        return false;
    *sp = strtoull(before, NULL, 16);
    *pc = strtoull(last, NULL, 16);
    return *sp != 0;
}

/* Locks of glibc: the value that threads wait with at their futex, and the distance from there to the holder's tid and
 * to the lock. FUTEX_LOCK_PI waits with any value. */
static const struct {
    uint32_t value;
    int holder, lock;
} lock_kinds[] = {
    {2, 8, 0},    /* pthread_mutex_t: __lock, __owner */
    {3, 16, -8},  /* pthread_rwlock_t: __wrphase_futex, __cur_writer */
    {3, 12, -12}, /* pthread_rwlock_t: __writers_futex, __cur_writer */
};

/* The thread whose tid is there; 0: it is no other one of the process. */
static int other_thread_at(const struct watched *thread, uint64_t address)
{
    int tid;
    return measured_read(address, &tid, sizeof tid) && tid != thread->tid && *place_of(tid) ? tid : 0;
}

/* An agent's lock, at whose condition variable the thread waits; the thread that has the lock. */
static int holder_of_condition(const struct watched *thread, uint64_t futex, uint64_t *condition)
{
    const struct agent_lock *lock = atomic_load(&agent_lock);
    uint32_t is_locked;
    uint64_t its;
    *condition = lock ? lock->condition : 0;
    bool is_held = lock && futex - lock->condition < sizeof(pthread_cond_t) &&
                   measured_read(lock->locked, &is_locked, sizeof is_locked) && is_locked &&
                   measured_read(lock->holder, &its, sizeof its);
    return is_held ? other_thread_at(thread, its + lock->tid) : 0;
}

/* `text` is what find_place has read: "202 0x55d0 0x80 0x2 ...", with the futex, the operation, and the value. */
static void find_lock(const struct watched *thread, char *text, struct perf_sample *sample)
{
    if (strtol(text, &text, 10) != SYS_futex)
        return;
    uint64_t futex = strtoull(text, &text, 16);
    unsigned operation = (unsigned)strtoull(text, &text, 16) & FUTEX_CMD_MASK;
    unsigned value = (unsigned)strtoull(text, &text, 16);
    bool is_wait = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
    bool inherits = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
    if (is_wait && (sample->holder = holder_of_condition(thread, futex, &sample->lock)) != 0)
        return;
    sample->lock = 0;
    for (size_t i = 0; i < sizeof lock_kinds / sizeof *lock_kinds; i++) {
        bool is_kind = (is_wait && value == lock_kinds[i].value) || (inherits && i == 0);
        int holder = is_kind ? other_thread_at(thread, futex + (uint64_t)lock_kinds[i].holder) : 0;
        if (!holder)
            continue;
        sample->lock = futex + (uint64_t)lock_kinds[i].lock;
        sample->holder = holder;
        return;
    }
}

/* Of a stack that is no thread's, as a goroutine's, the end is not known. */
static size_t bytes_of_stack(struct watched *thread, uint64_t sp)
{
    bool is_stack = sp - thread->low < thread->high - thread->low ||
                    foreign_stack(sp, 0, &thread->low, &thread->high) == STACK_FOUND;
    uint64_t all = is_stack ? thread->high - sp : PAGE;
    return all < LOOK_BYTES ? all : LOOK_BYTES;
}

static void read_stack(struct watched *thread, struct perf_sample *look)
{
    uint64_t sp = look->registers[SAMPLED_SP];
    size_t bytes = bytes_of_stack(thread, sp), to_end_of_page = PAGE - sp % PAGE;
    uint8_t *stack = malloc(bytes > to_end_of_page ? bytes : to_end_of_page);
    look->stack = stack;
    if (stack && measured_read(sp, stack, bytes))
        look->stack_bytes = bytes;
    else if (stack && measured_read(sp, stack, to_end_of_page))
        look->stack_bytes = to_end_of_page;
}

/* What an agent reads, if the thread gets no CPU meanwhile. It had none at an instant before. */
static struct caught *catch_for(const struct watched *thread, const struct scheduled *before, uint64_t time)
{
    struct caught *caught = linked_agents_catch(thread->tid, time);
    struct scheduled now = {0};
    if (caught && schedule_read(thread->schedule, &now) && now.timeslices == before->timeslices && now.timeslices)
        return caught;
    free(caught);
    return NULL;
}

enum found { FOUND_RUNNING, FOUND_WAITING, FOUND_MOVED };

/* The thread may have gone on while its stack was copied: then the copy is of no use. */
static enum found look(struct watched *thread, struct perf_sample *look)
{
    char text[PLACE_BYTES], after[PLACE_BYTES];
    uint64_t sp, pc, sp_after, pc_after;
    struct scheduled before = {0};
    *look = (struct perf_sample){.tid = thread->tid, .is_64_bit = true, .is_waiting = true};
    if (linked_agents_are_read())
        schedule_read(thread->schedule, &before);
    if (!find_place(thread, text, &sp, &pc))
        return FOUND_RUNNING;
    find_lock(thread, text, look);
    look->time = sys_clock(CLOCK_MONOTONIC);
    look->registers[SAMPLED_SP] = sp;
    look->registers[SAMPLED_PC] = pc;
    read_stack(thread, look);
    look->caught = catch_for(thread, &before, look->time);
    bool is_there = find_place(thread, after, &sp_after, &pc_after) && sp == sp_after && pc == pc_after;
    return is_there ? FOUND_WAITING : FOUND_MOVED;
}

static void release(struct perf_sample *look)
{
    free((void *)look->stack);
    free((void *)look->caught);
}

static void count_ready(struct watched *thread)
{
    struct scheduled now;
    if (!schedule_read(thread->schedule, &now) || now.ready <= thread->ready)
        return;
    thread->unpaid += now.ready - thread->ready;
    thread->ready = now.ready;
}

/* Its ready time is read now and then. A thread that is found waiting was ready before, at most for a short time. */
#define WAITING_LOOKS 8
#define RUNNING_LOOKS 2

/* Pays all periods that are over. */
static void look_at(struct watched *thread, uint64_t now)
{
    struct perf_sample *next = &waits.looks[waits.head % MAX_LOOKS];
    uint64_t pays = 0;
    for (; thread->due <= now; plan(thread))
        pays += thread->pays;
    if (waits.head - waits.tail == MAX_LOOKS)
        return;
    enum found found = look(thread, next);
    if (found == FOUND_MOVED) {
        release(next);
        found = look(thread, next);
    }
    thread->waited = found == FOUND_WAITING;
    if (thread->looks++ % (thread->waited ? WAITING_LOOKS : RUNNING_LOOKS) == 0)
        count_ready(thread);
    if (found != FOUND_WAITING) {
        release(next);
        return;
    }
    next->period = pays;
    waits.head++;
}

/* Of `looks` looks, which took so much CPU time. */
static void set_mean(uint64_t looks, uint64_t took)
{
    waits.cost = (waits.cost * 15 + took / looks) / 16;
    uint64_t least = waits.all.n * waits.cost * PARTS_PER_LOOKS / process.usable_cpus;
    waits.mean = waits.period > least ? waits.period : least;
}

uint64_t waits_look(void)
{
    if (!waits.looks)
        return UINT64_MAX;
    uint64_t now = sys_clock(CLOCK_MONOTONIC), began = sys_clock(CLOCK_THREAD_CPUTIME_ID), looks = 0;
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < waits.all.n; i++) {
        struct watched *thread = waits.all.at[i];
        if (thread->due <= now) {
            look_at(thread, now);
            looks++;
        }
        next = thread->due < next ? thread->due : next;
    }
    if (looks)
        set_mean(looks, sys_clock(CLOCK_THREAD_CPUTIME_ID) - began);
    now = sys_clock(CLOCK_MONOTONIC);
    uint64_t least = random_period(waits.mean);
    return next > now + least ? next - now : least;
}

const struct perf_sample *waits_first(uint64_t until)
{
    const struct perf_sample *first = waits.head == waits.tail ? NULL : &waits.looks[waits.tail % MAX_LOOKS];
    return first && first->time < until ? first : NULL;
}

void waits_remove_first(void)
{
    release(&waits.looks[waits.tail++ % MAX_LOOKS]);
}

static void add_that_runs_or_waits(int tid, void *data)
{
    char text[PLACE_BYTES];
    uint64_t sp, pc;
    struct watched *thread = add(tid);
    (void)data;
    if (thread)
        set_state(thread, find_place(thread, text, &sp, &pc));
}

void waits_begin(void)
{
    if (process.config.events[0].kind != EVENT_REALTIME)
        return;
    struct rlimit limit;
    waits.most_fds = getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX ? INT_MAX
                                                                                       : (int)limit.rlim_cur - KEPT_FDS;
    waits.is_on = true;
    waits.period = waits.mean = process.config.events[0].period;
    waits.looks = malloc(MAX_LOOKS * sizeof *waits.looks);
    measured_visit_threads(process.pid, add_that_runs_or_waits, NULL);
}

uint64_t waits_forbidden(void)
{
    return waits.forbidden;
}

uint64_t waits_without_descriptors(void)
{
    return waits.without_descriptors;
}
