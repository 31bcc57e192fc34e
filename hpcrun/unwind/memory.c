#include "hpcrun/unwind/memory.h"

/* The hooks keep the handler of SIGSEGV ours; only a program that makes the system call itself gets
 * round them. So the kernel is asked at the first sample that needs it and then at one in this
 * many. */
#define SAMPLES_PER_CHECK 64

static bool armed(struct memory *memory)
{
    if (memory->guard == MEMORY_GUARD_UNKNOWN) {
        bool ask = memory->checks++ % SAMPLES_PER_CHECK == 0;
        bool is_armed = ask ? guard_is_armed(memory->mask, memory->fault_handler)
                            : guard_is_unblocked(memory->mask);
        memory->guard = is_armed ? MEMORY_GUARD_ARMED : MEMORY_GUARD_KERNEL;
        if (!is_armed)
            memory->checks = 0;
    }
    return memory->guard == MEMORY_GUARD_ARMED;
}

/* Addresses that are not canonical raise a fault that the kernel reports without an address; the
 * null page is never data. Both are common in garbage, and cheap to refuse. */
static bool plausible(uint64_t address, uint64_t size)
{
    return address >= 4096 && address < ((uint64_t)1 << 47) - size;
}

bool memory_read_guarded(struct memory *memory, uint64_t address, void *to, size_t size)
{
    return plausible(address, size) && guard_copy(to, address, size, armed(memory));
}

bool memory_load_guarded(struct memory *memory, uint64_t address, uint64_t *value)
{
    if (!plausible(address, sizeof *value))
        return false;
    if (armed(memory))
        return guard_load(address, value);
    return guard_copy(value, address, sizeof *value, false);
}
