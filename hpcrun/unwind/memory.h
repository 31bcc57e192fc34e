/* Signal handler: everything here runs in the sampling handler, guard_fix_up and guard_abandon in
 * the fault handler.
 *
 * Reading memory that may not be there. Two ways, both through a fault fix-up: the process's
 * SIGSEGV and SIGBUS handler (hooks/signals.c owns it and chains to the program's) calls
 * guard_fix_up first, which resumes a guarded read with failure, or abandons a guarded region.
 *
 *  - A *guarded region* protects a stretch of code that keeps its results in memory:
 *        if (guard_enter(&guard) == 0) { ...read freely...; guard_leave(&guard); }
 *        else { ...a read faulted: guard_leave has been done... }
 *    The code inside takes no lock and calls nothing that does: it may be left at any load.
 *  - guard_copy copies bytes and reports whether all of them were readable.
 *
 * Both need SIGSEGV unblocked and its handler ours; guard_is_armed tells. Where it is not,
 * guard_copy asks the kernel (process_vm_readv), and regions must not be entered for foreign
 * memory. */
#ifndef HPCRUN_UNWIND_MEMORY_H
#define HPCRUN_UNWIND_MEMORY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The registers that a region resumes with; the layout is known to the assembly in guard.c. */
struct guard {
    uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    volatile bool active;
};

/* Opens a region: returns 0, and 1 a second time when a read in the region faulted. */
int guard_enter(struct guard *guard) __attribute__((returns_twice));

/* Closes the region of this thread. */
static inline void guard_leave(struct guard *guard)
{
    guard->active = false;
}

/* For the fault handler: if the faulting instruction belongs to guard_copy, or `guard` (of the
 * faulting thread, may be NULL) is active, changes `context` so that returning from the handler
 * resumes there, and returns true. */
bool guard_fix_up(struct guard *guard, ucontext_t *context);

/* For the fault handler: makes `context` resume as if a read in the region had faulted, if one is
 * active. */
bool guard_abandon(struct guard *guard, ucontext_t *context);

/* Whether SIGSEGV and SIGBUS are unblocked in `mask` (the mask of the interrupted code). */
bool guard_is_unblocked(uint64_t mask);

/* Whether a fault at this moment would reach guard_fix_up: the signals are unblocked and the kernel
 * has `handler` for SIGSEGV. One system call. */
bool guard_is_armed(uint64_t mask, void *handler);

/* Loads the 8 bytes at `from` under the fault fix-up; false when they are not readable.
 * Only where guard_is_armed. */
bool guard_load(uint64_t from, uint64_t *value);

/* Copies `size` bytes, if `armed` under the fault fix-up, else by process_vm_readv. Returns false
 * when some byte was not readable; then the destination is unspecified. */
bool guard_copy(void *to, uint64_t from, size_t size, bool armed);

/* ---- stacks and runtime data ----
 *
 * The unwinder reads the live part of the thread's own stack directly, everything else guarded. */

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
