/* Signal handler: everything here runs in the sampling handler.
 *
 * How the unwinder reads stacks and runtime data: the live part of the thread's own stack directly,
 * everything else guarded (guard.h). */
#ifndef HPCRUN_UNWIND_MEMORY_H
#define HPCRUN_UNWIND_MEMORY_H

#include "hpcrun/unwind/guard.h"

enum memory_guard { MEMORY_GUARD_UNKNOWN, MEMORY_GUARD_ARMED, MEMORY_GUARD_KERNEL };

/* What may be read during one sample. `checks` stays from one to the next. */
struct memory {
    uint64_t own_low, own_high; /* live part of the thread's own stack; equal when not known */
    enum memory_guard guard;    /* found out at the first guarded read */
    uint64_t mask;              /* of the interrupted code */
    void *fault_handler;        /* ours */
    uint32_t checks;            /* how often the guard was needed */
};

bool memory_read_guarded(struct memory *memory, uint64_t address, void *to, size_t size);
bool memory_load_guarded(struct memory *memory, uint64_t address, uint64_t *value);

/* Loads the 8 bytes at `address`; false when they can't be read. */
static inline bool memory_load(struct memory *memory, uint64_t address, uint64_t *value)
{
    if (address - memory->own_low < memory->own_high - memory->own_low) {
        *value = *(const uint64_t *)(uintptr_t)address;
        return true;
    }
    return memory_load_guarded(memory, address, value);
}

/* Declares [low, high) as the live part of the own stack; unaligned loads near the end stay in it.
 */
static inline void memory_set_own_stack(struct memory *memory, uint64_t low, uint64_t high)
{
    bool sane = high - low > 8 && low < high;
    memory->own_low = low;
    memory->own_high = sane ? high - 7 : low;
}

#endif
