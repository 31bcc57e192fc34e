/* Signal handler. */
#include "hpcrun/logical/stack-owner.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/wait-slots.h"
#include "lib/measurement-format.h"

struct range {
    uint64_t low, high; /* bounds of a stack; equal: none */
    uint64_t thread;    /* whose it is */
};

/* The stack of the thread that has the slot; zeros if the address is elsewhere, or if the slot gets
 * another thread meanwhile: that writes its name before its bounds. */
static struct range range_around(const struct agent_slot *slot, uint64_t address)
{
    struct range range = {.thread = atomic_load_explicit(&slot->thread, memory_order_acquire)};
    range.high = atomic_load_explicit(&slot->stack_high, memory_order_acquire);
    range.low = atomic_load_explicit(&slot->stack_low, memory_order_acquire);
    bool is_same = atomic_load_explicit(&slot->thread, memory_order_relaxed) == range.thread;
    return is_same && address >= range.low && address < range.high ? range : (struct range){0};
}

struct stack_owner stack_owner_of(uint64_t address)
{
    struct stack_owner owner = {0};
    uint64_t smallest = UINT64_MAX;
    uint32_t end = atomic_load_explicit(&slots.end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(&slots, i);
        struct range range = range_around(slot, address);
        if (range.high == range.low || range.high - range.low >= smallest)
            continue;
        smallest = range.high - range.low;
        owner = (struct stack_owner){slot, range.thread};
    }
    return owner;
}

bool stack_owner_holds(const struct stack_owner *owner, uint64_t address)
{
    return owner->slot && range_around(owner->slot, address).thread == owner->thread;
}

bool stack_owner_note(uint64_t thread, struct lnote *note)
{
    uint32_t index;
    if (!slot_thread_index(thread, &index))
        return false;
    *note = (struct lnote){.value = ip_placeholder(PLACEHOLDER_STACK_OF + index)};
    return true;
}
