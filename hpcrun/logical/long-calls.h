/* Calls that move data or wait for children: read, send, accept, waitpid, ... Such a call works, in the
 * kernel, or it waits. Only its time tells which: at a sample, a thread waits if its call has lasted
 * longer than the work can take. So a call notes when that will be:
 *
 *     struct long_call call = long_call_begin(own_slot, size);
 *     result = REAL(read)(fd, to, size);
 *     long_call_end(&call);
 *
 * A call may end without long_call_end, like a wait (wait-slots.h). */
#ifndef HPCRUN_LOGICAL_LONG_CALLS_H
#define HPCRUN_LOGICAL_LONG_CALLS_H

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"

/* Work that a call takes at most, in ticks (process.h): 40 to 200 microseconds, and more than the
 * kernel needs to copy a byte. A thread that loses its CPU meanwhile is taken for one that waits. */
#define LONG_CALL_TICKS          200000
#define LONG_CALL_TICKS_PER_BYTE 4

/* For calls whose size is not looked at: more than sockets hold. */
#define LONG_CALL_BYTES ((size_t)1 << 20)

/* What a call restores at its end. */
struct long_call {
    struct agent_slot *slot; /* NULL: nothing */
    uint32_t state;
    uint64_t frame;
};

/* Normal context. The calling wrapper is about to move at most so many bytes. `slot` may be NULL.
 * Always inlined, since it takes its frame for the wrapper's. */
__attribute__((always_inline)) static inline struct long_call
long_call_begin(struct agent_slot *slot, size_t bytes)
{
    if (!slot || !process.active || atomic_load_explicit(&sampling.no_ticks, memory_order_relaxed))
        return (struct long_call){.slot = NULL};
    uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    slot_forget_left_wait(slot, frame);
    struct long_call before = {slot, atomic_load_explicit(&slot->state, memory_order_relaxed),
                               slot->frame};
    uint64_t most = bytes < UINT64_MAX >> 16 ? bytes : UINT64_MAX >> 16;
    slot->frame = frame;
    slot->calls++;
    atomic_store_explicit(&slot->works_until,
                          ticks_now() + LONG_CALL_TICKS + LONG_CALL_TICKS_PER_BYTE * most,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->state, state_of_wait(before.state, AGENT_SLOT_CALLING),
                          memory_order_release);
    return before;
}

/* Normal context. The call is over. errno stays. */
static inline void long_call_end(const struct long_call *before)
{
    if (!before->slot)
        return;
    atomic_store_explicit(&before->slot->state, before->state, memory_order_relaxed);
    before->slot->frame = before->frame;
}

#endif
