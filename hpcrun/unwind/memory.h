/* Signal handler: everything here runs in the sampling handler, guard_fix_up and guard_abandon in
 * the fault handler.
 *
 * Reads of memory that may not be readable. There are two ways. Both use a fault fix-up: the
 * process's SIGSEGV and SIGBUS handler (in hooks/signals.c, which chains to the program's) first
 * calls guard_fix_up, which makes a guarded read fail, or leaves a guarded region.
 *
 *  - A *guarded region* is a section of code that keeps its results in memory:
 *        if (guard_enter(&guard) == 0) { ...read freely...; guard_leave(&guard); }
 *        else { ...a read faulted; the region is closed... }
 *    The code inside must not take locks: it may be left at any load.
 *  - guard_copy copies bytes and returns whether all of them were readable.
 *
 * Both need our handler for SIGSEGV, and the signal unblocked (guard_is_armed). Otherwise
 * guard_copy asks the kernel (process_vm_readv), and no region may be entered to read the program's
 * memory. */
#ifndef HPCRUN_UNWIND_MEMORY_H
#define HPCRUN_UNWIND_MEMORY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The registers with which guard_enter returns again. The assembly in memory.c uses this layout. */
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

/* Leaves the region, which is active, as if a read in it had faulted. */
_Noreturn void guard_exit(struct guard *guard);

/* For the fault handler. If the faulting instruction belongs to guard_copy, guard_load or memory_load_words, or if
 * `guard` (of the faulting thread; may be NULL) is active, changes `context` so that the read fails
 * or the region is left, and returns true. */
bool guard_fix_up(struct guard *guard, ucontext_t *context);

/* For the fault handler: leaves the region, if one is active, as if a read in it had faulted. */
bool guard_abandon(struct guard *guard, ucontext_t *context);

/* Whether SIGSEGV and SIGBUS are unblocked in `mask` (the mask of the interrupted code). */
bool guard_is_unblocked(uint64_t mask);

/* Whether a fault now would reach guard_fix_up: the signals are unblocked in `mask`, and `handler`
 * is the kernel's handler of SIGSEGV. One system call. */
bool guard_is_armed(uint64_t mask, void *handler);

/* Loads the 8 bytes at `from`; false if they are not readable. Only if guard_is_armed. */
bool guard_load(uint64_t from, uint64_t *value);

/* Copies `size` bytes: with the fault fix-up if `armed`, otherwise by process_vm_readv. Returns
 * false if some byte was not readable; the destination is unspecified then. */
bool guard_copy(void *to, uint64_t from, size_t size, bool armed);

/* ---- stacks and runtime data ----
 *
 * The unwinder reads the live part of the thread's own stack directly, everything else guarded.
 *
 * The sampled thread may belong to another process (outside/). Then the direct part is a copy of the
 * top of its stack, and the rest is read by page from that process. Addresses are always those that
 * the thread uses. */

struct memory;

/* The memory of another process, as it was at a sample. */
struct memory_elsewhere {
    const uint8_t *stack; /* copy of the bytes from the thread's stack pointer on */
    size_t stack_bytes;
    /* Copies the page at `page` to `to`; false if it can't be read, or has changed since the sample. */
    bool (*read_page)(const struct memory *memory, uint64_t page, uint8_t *to);
    bool (*read)(uint64_t address, void *to, size_t size); /* as it is now */
    /* Words of the runtime's data that were read at the instant of the sample; false if these were not. */
    bool (*read_caught)(uint64_t address, void *to, size_t size);
    bool (*is_caught)(void); /* no read_caught of this sample has failed */
    uint64_t hint;           /* agent_cursor.hint */
};

enum memory_guard { MEMORY_GUARD_UNKNOWN, MEMORY_GUARD_ARMED, MEMORY_GUARD_KERNEL };

/* Copies of pages, for reads through the kernel: a system call reads a page, not a word. */
#define MEMORY_PAGES 16

struct memory_pages {
    uint64_t address[MEMORY_PAGES]; /* 0: none */
    bool readable[MEMORY_PAGES];
    unsigned next; /* index of the page to replace next */
    _Alignas(4096) uint8_t bytes[MEMORY_PAGES][4096];
};

/* The budget of a sample, in words: what a search for callers without unwind information may read.
 * An instruction counts as a word; faults and pages, which take longer, count as several. Faults
 * alone or pages alone spend the budget in 100 to 130 us, instructions alone in 130 to 180 us
 * (measured in November 2026 on a virtual machine with busy neighbors: median and 90 %). */
#define MEMORY_BUDGET      4096
#define MEMORY_FAULT_WORDS 130 /* a read that faults */
#define MEMORY_PAGE_WORDS  55  /* a page that the kernel reads */
#define MEMORY_STACK_WORDS 3   /* a page of another process's stack, unless a search reads it: no sample waits there */

/* The memory that may be read directly during one sample, and the way to read the rest. `checks` is
 * kept between samples. */
struct memory {
    uint64_t own_low, own_high; /* live part of the thread's own stack; equal if unknown */
    uint64_t own_distance;      /* from an address in it to where its bytes are here: 0 but for a copy */
    enum memory_guard guard;    /* determined at the first guarded read */
    uint64_t mask;              /* of the interrupted code */
    void *fault_handler;        /* ours */
    uint32_t checks;            /* number of samples that needed guarded reads */
    int32_t budget;             /* words that are left */
    bool searching;             /* all reads count against the budget, not only those of pages */
    struct memory_pages *pages; /* NULL: reads through the kernel are not by page, nor limited */
    bool pages_used;            /* the copies in `pages` are of this sample */
    bool compares;              /* what is read now is compared with an earlier sample (memory_begin_comparison) */
    bool reads_caught;          /* of another process: what the copy of the stack lacks, read_caught has */
    const struct memory_elsewhere *elsewhere; /* NULL: the memory is this process's */
};

/* Takes `words` from the budget; false if it is spent. */
static inline bool memory_spend(struct memory *memory, int32_t words)
{
    memory->budget -= words;
    return memory->budget >= 0;
}

static inline bool memory_spend_in_search(struct memory *memory, int32_t words)
{
    return !memory->searching || memory_spend(memory, words);
}

static inline bool memory_is_exhausted(const struct memory *memory)
{
    return memory->budget < 0;
}

/* Words that are read between these calls are compared with those of an earlier sample. Equal words may be used though
 * the other process runs on: its stack has not changed where they lie. */
void memory_begin_comparison(struct memory *memory);
void memory_end_comparison(struct memory *memory);

/* Before a sample: the budget is whole. After it, pages must not be used: others change them. */
void memory_begin_sample(struct memory *memory, struct memory_pages *pages);
static inline void memory_end_sample(struct memory *memory)
{
    memory->pages = NULL;
}

bool memory_read_guarded(struct memory *memory, uint64_t address, void *to, size_t size);
/* Reads code for a search: words cost a quarter. */
bool memory_read_searched(struct memory *memory, uint64_t address, void *to, size_t size);
/* Loads a number of words, at least one. */
bool memory_load_words(struct memory *memory, uint64_t address, uint64_t *to, size_t words);
bool memory_load_guarded(struct memory *memory, uint64_t address, uint64_t *value);

/* Whether all of the bytes are in the part that is read directly. */
static inline bool memory_is_own(const struct memory *memory, uint64_t address, size_t size)
{
    return address - memory->own_low < memory->own_high - memory->own_low &&
           size <= memory->own_high + 7 - address;
}

/* Loads the 8 bytes at `address`; false if they can't be read. On a sanitized build, a thread that was canceled in a hook
 * leaves the red zones of the hook's frame on its stack. */
__attribute__((no_sanitize_address)) static inline bool memory_load(struct memory *memory, uint64_t address, uint64_t *value)
{
    if (address - memory->own_low < memory->own_high - memory->own_low) {
        *value = *(const uint64_t *)(uintptr_t)(address + memory->own_distance);
        return true;
    }
    return memory_load_guarded(memory, address, value);
}

/* The aligned word at `address`; 0 if it is not aligned or can't be read. */
static inline uint64_t memory_word(struct memory *memory, uint64_t address)
{
    uint64_t word;
    return address % sizeof word == 0 && memory_load(memory, address, &word) ? word : 0;
}

/* The same of 4 aligned bytes. */
static inline uint32_t memory_half_word(struct memory *memory, uint64_t address)
{
    uint64_t offset = address % sizeof(uint64_t);
    return (uint32_t)(memory_word(memory, address - offset) >> 8 * offset);
}

/* Sets [low, high) as the live part of the thread's own stack, less 7 bytes, so that unaligned
 * loads do not cross its end. */
static inline void memory_set_own_stack(struct memory *memory, uint64_t low, uint64_t high)
{
    bool sane = high - low > 8 && low < high;
    memory->own_low = low;
    memory->own_high = sane ? high - 7 : low;
}

/* Sets the memory of another process. `low`: the address, in that process, of the first byte of the stack's copy. */
static inline void memory_set_elsewhere(struct memory *memory, uint64_t low,
                                        const struct memory_elsewhere *elsewhere)
{
    memory->elsewhere = elsewhere;
    memory->own_distance = (uint64_t)(uintptr_t)elsewhere->stack - low;
    memory_set_own_stack(memory, low, low + elsewhere->stack_bytes);
}

#endif
