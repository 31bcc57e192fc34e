/* Signal handler: what the header says may be used there. */
#include "hpcrun/logical/wait-slots.h"

#include "hpcrun/base/sys.h"

#include <string.h>

struct agent_slots slots;
__thread struct agent_slot *own_slot;

struct agent_slot *hpctoolkit_own_slot(void)
{
    return own_slot;
}

/* The slot with this number; maps its chunk if needed. NULL without memory. */
static struct agent_slot *slot_at(uint32_t i)
{
    struct agent_slot *_Atomic *chunk = &slots.chunk[i / AGENT_SLOTS];
    struct agent_slot *here = atomic_load(chunk), *none = NULL;
    size_t bytes = AGENT_SLOTS * sizeof *here;
    if (!here) {
        struct agent_slot *mapped = sys_pages(bytes);
        if (mapped && atomic_compare_exchange_strong(chunk, &none, mapped))
            here = mapped;
        else {
            sys_pages_free(mapped, bytes);
            here = none;
        }
    }
    return here ? &here[i % AGENT_SLOTS] : NULL;
}

static void raise_end(uint32_t to)
{
    uint32_t end = atomic_load(&slots.end);
    while (end < to && !atomic_compare_exchange_weak(&slots.end, &end, to))
        ;
}

/* Forks that led to this process: the upper half of agent_slot.thread. What agents keep of threads is
 * inherited by the child of a fork, whose indices of threads begin at 0 again. */
static uint32_t forks;

static uint64_t thread_of(uint32_t index)
{
    return (uint64_t)forks << 32 | (index + 1);
}

bool slot_thread_index(uint64_t thread, uint32_t *index)
{
    *index = (uint32_t)thread - 1;
    return (uint32_t)thread && thread >> 32 == forks;
}

/* Where the search for a free slot begins: there may be free ones before it, but not many. */
static _Atomic uint32_t search_from;

static bool take(struct agent_slot *slot)
{
    uint32_t free = AGENT_SLOT_FREE;
    return atomic_load_explicit(&slot->state, memory_order_relaxed) == AGENT_SLOT_FREE &&
           atomic_compare_exchange_strong(&slot->state, &free, AGENT_SLOT_WORKING);
}

/* Readers (stack-owner.c) read the thread, stack_high, stack_low, and the thread again. */
static void set_stack(struct agent_slot *slot, uint64_t low, uint64_t high)
{
    atomic_store(&slot->stack_low, low);
    atomic_store(&slot->stack_high, high);
}

/* stack_low stays: it is the bound for a reader that has read stack_high before. */
static void remove_stack(struct agent_slot *slot)
{
    atomic_store(&slot->stack_high, 0);
}

void slot_take(int tid, uint32_t index, uint64_t stack_low, uint64_t stack_high)
{
    for (uint32_t i = atomic_load(&search_from); i < AGENT_SLOTS * AGENT_CHUNKS; i++) {
        struct agent_slot *slot = slot_at(i);
        if (!slot)
            return;
        if (!take(slot))
            continue;
        slot->tid = tid;
        slot->number = i;
        atomic_store(&slot->thread, thread_of(index));
        set_stack(slot, stack_low, stack_high);
        raise_end(i + 1);
        atomic_store(&search_from, i + 1);
        own_slot = slot;
        return;
    }
    atomic_store(&search_from, 0);
}

static void clear_part(struct agent_slot_part *part)
{
    part->link = part->own = NULL;
    part->arrived = 0;
}

/* Removes what is the thread's. */
static void clear(struct agent_slot *slot)
{
    atomic_store(&slot->runtimes, 0);
    slot->pool = 0;
    clear_part(&slot->gomp);
    clear_part(&slot->ompt);
    clear_part(&slot->tbb);
    clear_part(&slot->openblas);
    atomic_store(&slot->lock, 0);
    atomic_store(&slot->holder, 0);
    atomic_store(&slot->is_charged, 0);
    memset(slot->held, 0, sizeof slot->held);
    for (unsigned event = 0; event < AGENT_MAX_EVENTS; event++) {
        atomic_store(&slot->delay[event], 0);
        atomic_store(&slot->unpaid[event], 0);
    }
    slot->frame = slot->lock_since = 0;
}

void slots_find_long_calls(uint64_t ticks)
{
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        struct agent_slot *slot = agent_slot_at(&slots, i);
        uint32_t calling = AGENT_SLOT_CALLING;
        if (slot_is_in_long_call(slot, ticks))
            atomic_compare_exchange_strong(&slot->state, &calling, AGENT_SLOT_WAITING);
    }
}

uint32_t slots_running(void)
{
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire), running = 0;
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(&slots, i);
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
        running += state == AGENT_SLOT_WORKING || state == AGENT_SLOT_CALLING;
    }
    return running;
}

void slot_release(void)
{
    struct agent_slot *slot = own_slot;
    own_slot = NULL;
    if (!slot)
        return;
    remove_stack(slot);
    clear(slot);
    uint32_t number = slot->number;
    atomic_store(&slot->state, AGENT_SLOT_FREE);
    if (number < atomic_load(&search_from))
        atomic_store(&search_from, number);
}

/* Other threads may have been changing their lists: these are forgotten. */
void slots_after_fork(int tid, uint32_t index)
{
    forks++;
    for (uint32_t i = 0; i < atomic_load(&slots.end); i++) {
        struct agent_slot *slot = slot_at(i);
        if (slot != own_slot)
            *slot = (struct agent_slot){.state = AGENT_SLOT_FREE};
    }
    atomic_store(&search_from, 0);
    if (!own_slot)
        return;
    own_slot->tid = tid;
    atomic_store(&own_slot->thread, thread_of(index));
}
