#include "agents/common/thread-slots.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARED __attribute__((visibility("default")))

SHARED struct thread_slot hpctoolkit_thread_slots[MAX_THREAD_SLOTS];
SHARED _Atomic uint32_t hpctoolkit_thread_slots_used;
SHARED __thread struct thread_slot *hpctoolkit_thread_slot
    __attribute__((tls_model("initial-exec")));

static struct thread_slot surplus = {.state = THREAD_WORKS};
static pthread_key_t end_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

struct thread_slot *slots_surplus(void)
{
    return &surplus;
}

/* At the end of a thread. The link and the records stay: the records are reused by the next thread
 * with this slot. */
static void release(void *value)
{
    struct thread_slot *slot = value;
    hpctoolkit_thread_slot = NULL;
    atomic_store_explicit(&slot->runtimes, 0, memory_order_relaxed);
    slot->gomp.link = slot->gomp.own = slot->ompt.link = slot->tbb.link = slot->tbb.own = NULL;
    slot->pool = 0;
    atomic_store_explicit(&slot->state, THREAD_NONE, memory_order_release);
}

/* In the child of a fork only the calling thread lives. */
static void free_other_slots(void)
{
    uint32_t used = atomic_load(&hpctoolkit_thread_slots_used);
    for (uint32_t i = 0; i < used; i++) {
        struct thread_slot *slot = &hpctoolkit_thread_slots[i];
        if (slot == hpctoolkit_thread_slot)
            slot->tid = (int)syscall(SYS_gettid);
        else
            *slot = (struct thread_slot){.state = THREAD_NONE};
    }
}

static void prepare(void)
{
    pthread_key_create(&end_key, release);
    pthread_atfork(NULL, NULL, free_other_slots);
}

/* Marks slots up to number i as used. */
static void extend(uint32_t i)
{
    uint32_t used = atomic_load(&hpctoolkit_thread_slots_used);
    while (used <= i && !atomic_compare_exchange_weak(&hpctoolkit_thread_slots_used, &used, i + 1))
        ;
}

/* Takes the first free slot; NULL if there is none. */
static struct thread_slot *take(void)
{
    for (uint32_t i = 0; i < MAX_THREAD_SLOTS; i++) {
        struct thread_slot *slot = &hpctoolkit_thread_slots[i];
        uint32_t none = THREAD_NONE;
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) == THREAD_NONE &&
            atomic_compare_exchange_strong(&slot->state, &none, THREAD_WORKS)) {
            extend(i);
            return slot;
        }
    }
    return NULL;
}

struct thread_slot *slot_acquire(void)
{
    pthread_once(&key_once, prepare);
    struct thread_slot *slot = take();
    if (!slot)
        return hpctoolkit_thread_slot = &surplus;
    slot->tid = (int)syscall(SYS_gettid);
    hpctoolkit_thread_slot = slot;
    pthread_setspecific(end_key, slot);
    return slot;
}

struct slot_counts slots_count(enum slot_runtime runtime)
{
    uint32_t used = atomic_load_explicit(&hpctoolkit_thread_slots_used, memory_order_relaxed);
    struct slot_counts counts = {0};
    for (uint32_t i = 0; i < used; i++) {
        const struct thread_slot *slot = &hpctoolkit_thread_slots[i];
        if (!slot_serves(slot, runtime))
            continue;
        counts.workers++;
        counts.working += slot_state(slot) == THREAD_WORKS;
    }
    return counts;
}
