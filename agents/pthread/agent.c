/* The agent for plain threads: those that pthread_create, thrd_create and std::thread make. It is a
 * part of libhpcrun.so, so it needs no file at run time, e.g. in a sandbox.
 *
 * Tallent and Mellor-Crummey, PPoPP 2009, section 2.1: the workers are the program's threads; n is
 * the number of threads or of CPUs, whichever is smaller. A thread works unless it waits or sleeps.
 * Its slot says so (agents/agent-slots.h): hpcrun's wrappers of waiting calls write it.
 *
 * Beside a runtime whose agent marks its threads in their slots (OpenMP, oneTBB), the workers are the
 * other threads. A thread that calls such a runtime is the runtime's from then on.
 *
 * Directed blame, after Tallent, Mellor-Crummey and Porterfield, PPoPP 2010: a thread that waits
 * for a lock leaves the lock's address and that of its holder's tid in its slot. glibc keeps this
 * tid in every mutex and in every rwlock that a writer holds. So the sample of a holder finds those
 * who wait for it; nothing is recorded when such a lock is taken or released. Readers of an rwlock and
 * holders of spin locks are not known to the lock, so hpcrun's wrappers note in the slot of each thread which of
 * these it has, and in a table which thread has a semaphore that an interpreter uses as a lock. Readers share the
 * blame: each pays for every n-th of its samples if n have the lock. */
#include "agents/common/thread-slots.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Of glibc's ABI (hpcrun/hooks/lock-waits.c): the number of readers is above three bits of this word. */
enum { READERS_OF_RWLOCK = offsetof(pthread_rwlock_t, __data.__readers), READER_SHIFT = 3 };

static const struct agent_host *host;

/* Runtimes whose threads spin, or wait by system calls of their own: they would count as working.
 * The agent serves no process with one of them that no other agent serves. */
static const struct {
    const char *module, *why;
} others[] = {
    {"libgomp.so", "threads of GCC's OpenMP wait in code of their own, so idleness is not known"},
    {"libomp.so", "threads of LLVM's OpenMP spin while they wait, so idleness is not known"},
    {"libiomp5.so", "threads of Intel's OpenMP spin while they wait, so idleness is not known"},
};
/* Start addresses of the loaded ones; 0: a free place. A process may have two with the same name. */
static uint64_t other_starts[16];
static _Atomic unsigned others_loaded;

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    return true;
}

/* Puts `to` in the place of `from`; false: there is no `from`. */
static bool replace_start(uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < sizeof other_starts / sizeof *other_starts; i++)
        if (other_starts[i] == from) {
            other_starts[i] = to;
            return true;
        }
    return false;
}

static void module_added(const struct agent_module *module)
{
    const char *slash = strrchr(module->path, '/'), *base = slash ? slash + 1 : module->path;
    if (host->is_claimed(module->start)) /* hpcrun announces modules to this agent after others */
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(base, others[i].module, strlen(others[i].module)) == 0) {
            atomic_fetch_add(&others_loaded, replace_start(0, module->start));
            host->refuse(&agent_for_threads, others[i].why);
        }
}

static void module_removed(const struct agent_module *module)
{
    if (replace_start(module->start, 0) && atomic_fetch_sub(&others_loaded, 1) == 1)
        host->refuse(&agent_for_threads, NULL);
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    (void)cursor;
    const struct agent_slot *slot = hpctoolkit_own_slot();
    if (!slot || !slot_is_plain(slot) || atomic_load_explicit(&others_loaded, memory_order_relaxed))
        return AGENT_FOREIGN;
    return slot_state(slot) == AGENT_SLOT_WORKING ? AGENT_WORKING : AGENT_WAITING;
}

/* Whether this thread has the lock for which the thread of a slot waits, by its own note. */
static bool has_noted(const struct agent_slot *slot)
{
    uint64_t lock = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    const struct agent_slot *own = hpctoolkit_own_slot();
    for (unsigned i = 0; own && lock && i < AGENT_MAX_HELD; i++)
        if (atomic_load_explicit(&own->held[i], memory_order_relaxed) == lock)
            return true;
    return false;
}

/* Whether this thread waits for the same lock as that of a slot: then it does not hold it. From outside, the holder is
 * the one at the last look at the thread of the slot; since then, it may have released the lock and wait again. */
static bool waits_for_the_same(const struct agent_slot *slot)
{
    const struct agent_slot *own = hpctoolkit_own_slot();
    return own && slot_state(own) == AGENT_SLOT_WAITING &&
           atomic_load_explicit(&own->lock, memory_order_relaxed) ==
               atomic_load_explicit(&slot->lock, memory_order_relaxed);
}

/* Whether the thread of a slot waits for a semaphore that this thread has as a lock. `word`: address of the word that
 * may say so. */
static bool waits_for_semaphore(const struct agent_cursor *cursor, const struct agent_slot *slot, uint64_t word)
{
    uint64_t lock = atomic_load_explicit(&slot->lock, memory_order_relaxed);
    return agent_u64(host, cursor, word) == semaphore_held_by(lock, cursor->tid) && !waits_for_the_same(slot);
}

/* No code is in as many sections. */
#define MOST_SECTIONS 32

/* Whether this thread has the lock of an object, by the sections of code that the interpreter says it is in. */
static bool is_in_section_of(const struct agent_cursor *cursor, uint64_t lock, const struct agent_lock *kind)
{
    const struct agent_slot *own = hpctoolkit_own_slot();
    uint64_t thread = own ? own->interpreted : 0; /* may be freed since the last sample */
    bool is_own = thread && (int)agent_u32(host, cursor, thread + kind->tid) == cursor->tid;
    uint64_t section = is_own ? agent_u64(host, cursor, thread + kind->sections) : 0;
    for (int i = 0; i < MOST_SECTIONS && section && !(section & SECTION_IS_LEFT); i++) {
        uint64_t at = section & ~(uint64_t)SECTION_BITS;
        if (agent_u64(host, cursor, at + 8) == lock ||
            (section & SECTION_HAS_TWO && agent_u64(host, cursor, at + 16) == lock))
            return true;
        section = agent_u64(host, cursor, at);
    }
    return false;
}

/* Whether the thread of a slot waits for a lock that this thread holds. The lock may be gone by
 * now: its memory is read through the host. */
static bool waits_for(const struct agent_cursor *cursor, const struct agent_slot *slot)
{
    uint64_t holder = atomic_load_explicit(&slot->holder, memory_order_relaxed);
    const struct agent_lock *lock = (const void *)(holder & ~AGENT_HOLDER_OF_LOCK);
    if (holder & AGENT_HOLDER_OF_SEMAPHORE)
        return waits_for_semaphore(cursor, slot, holder & ~AGENT_HOLDER_OF_SEMAPHORE);
    if (holder & AGENT_HOLDER_OF_BYTE)
        return is_in_section_of(cursor, atomic_load_explicit(&slot->lock, memory_order_relaxed),
                                (const void *)(holder & ~AGENT_HOLDER_OF_BYTE));
    if (holder & AGENT_HOLDER_OF_LOCK)
        holder = agent_u32(host, cursor, lock->locked)
                     ? agent_u64(host, cursor, lock->holder) + lock->tid
                     : 0;
    int tid = holder ? (int)agent_u32(host, cursor, holder) : 0;
    return tid ? tid == cursor->tid && !waits_for_the_same(slot) : has_noted(slot);
}

/* For agent_worker_counts.turn, of the lock that a thread waits for. */
static uint64_t turn_of(const struct agent_cursor *cursor, const struct agent_slot *slot)
{
    uint64_t holder = atomic_load_explicit(&slot->holder, memory_order_relaxed);
    const struct agent_lock *lock = (const void *)(holder & ~AGENT_HOLDER_OF_LOCK);
    return holder & AGENT_HOLDER_OF_LOCK ? agent_u64(host, cursor, lock->turns) + 1 : 0;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    struct agent_worker_counts counts = {0};
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(host->slots, i);
        enum agent_slot_state state = slot_state(slot);
        bool is_worker = state != AGENT_SLOT_FREE && slot_is_plain(slot);
        counts.workers += is_worker;
        counts.working += is_worker && state == AGENT_SLOT_WORKING;
        if (state == AGENT_SLOT_WAITING && waits_for(cursor, slot)) {
            counts.waiting_for_this++;
            counts.turn = turn_of(cursor, slot);
        }
    }
    return counts;
}

/* The slot of waiter number `which`; NULL if there are fewer waiters now. */
static struct agent_slot *find_waiter(const struct agent_cursor *cursor, uint32_t which)
{
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        struct agent_slot *slot = agent_slot_at(host->slots, i);
        if (slot_state(slot) == AGENT_SLOT_WAITING && waits_for(cursor, slot) && which-- == 0)
            return slot;
    }
    return NULL;
}

/* Whether it is another thread's turn to pay for a lock that several have for reading. */
static bool is_others_turn(const struct agent_cursor *cursor, const struct agent_slot *waiter)
{
    struct agent_slot *own = hpctoolkit_own_slot();
    uint64_t writer = atomic_load_explicit(&waiter->holder, memory_order_relaxed);
    if (!has_noted(waiter) || !writer || agent_u32(host, cursor, writer))
        return false;
    uint64_t lock = atomic_load_explicit(&waiter->lock, memory_order_relaxed);
    uint32_t readers = agent_u32(host, cursor, lock + READERS_OF_RWLOCK) >> READER_SHIFT;
    return readers > 1 && own->held_turn++ % readers != 0;
}

/* REALTIME's samples change the order in which waiters get a lock: a signal sends a waiter to the end of the kernel's
 * queue. So the lock goes to a thread whose next sample is near, and holders have too many samples. But a waiter has
 * samples of its own, which say how long it waits. Holders pay it for no more than that and MOST_OVERPAID samples: the
 * number of samples of both is random. */
#define MOST_OVERPAID 8

/* Pays a waiter the amount of a holder's sample, unless that would be too much. */
static bool takes_payment(struct agent_slot *waiter, unsigned event, uint64_t amount)
{
    int64_t least = -MOST_OVERPAID * (int64_t)amount;
    int64_t left = atomic_load_explicit(&waiter->unpaid[event], memory_order_relaxed) - (int64_t)amount;
    if (left < least)
        return false;
    atomic_fetch_sub_explicit(&waiter->unpaid[event], (int64_t)amount, memory_order_relaxed);
    return true;
}

/* The number of those who wait for this thread and are paid: by an event that does not sample waits, all. */
static uint32_t pay_waiters(const struct agent_cursor *cursor, uint32_t waiters, unsigned event, uint64_t amount)
{
    if (!(host->slots->sampled_waits >> event & 1))
        return waiters;
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire), paid = 0;
    for (uint32_t i = 0; i < end; i++) {
        struct agent_slot *slot = agent_slot_at(host->slots, i);
        bool waits = slot_state(slot) == AGENT_SLOT_WAITING && waits_for(cursor, slot);
        paid += waits && takes_payment(slot, event, amount);
    }
    return paid;
}

/* One waiter gets the amount for all of them, each in turn: it will unwind its stack when it has
 * the lock, and that must not happen once per waiter. */
static uint32_t charge_waiters(struct agent_cursor *cursor, uint32_t waiters, unsigned event,
                               uint64_t amount)
{
    static _Atomic uint32_t turn;
    uint32_t which = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % waiters;
    struct agent_slot *slot = find_waiter(cursor, which);
    uint32_t paid = !slot || is_others_turn(cursor, slot) ? 0 : pay_waiters(cursor, waiters, event, amount);
    if (paid == 0)
        return 0;
    atomic_fetch_add_explicit(&slot->delay[event], amount * paid, memory_order_relaxed);
    atomic_store_explicit(&slot->is_charged, 1, memory_order_release);
    return paid;
}

/* All frames are native: the agent claims no code. */
static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return AGENT_1_0;
}

const struct agent agent_for_threads = {
    .interface = AGENT_INTERFACE,
    .name = "pthread",
    .version = "1.0",
    .is_for_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .charge_waiters = charge_waiters,
    .step_bichord = step_bichord,
};
