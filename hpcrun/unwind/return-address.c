#include "hpcrun/unwind/return-address.h"

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/call-site.h"

#include <string.h>

static bool in_module(uint64_t address)
{
    struct module_range range;
    return module_range_find(address, &range);
}

/* Whether the call before `ra` may have called the code at `pc`. A direct call within a module
 * rarely calls code made at run time (only through a function that jumps there); this excludes most
 * return addresses that earlier calls have left. */
static bool may_call(struct memory *memory, uint64_t ra, uint64_t pc)
{
    uint64_t target;
    return !call_site_target(memory, ra, &target) || in_module(pc) || !in_module(target);
}

/* Whether an address lies in the frame's stack. Code on a stack, such as trampolines, jumps and
 * does not call, so there are no return addresses to it. */
static bool on_stack(const struct memory *memory, const struct frame *frame, uint64_t address)
{
    return address - frame->sp < RETURN_MAX_FRAME ||
           address - memory->own_low < memory->own_high - memory->own_low;
}

/* It begins with mov -16(%rbp), %rsp, or with mov -16(%rbp), %rcx and lea 0(%rbp, %rcx, 8),
 * %rsp. */
bool return_to_interpreter(uint64_t code)
{
    static const uint8_t to_sp[] = {0x48, 0x8b, 0x65, 0xf0};
    static const uint8_t scaled[] = {0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd};
    return memcmp(&code, to_sp, sizeof to_sp) == 0 || memcmp(&code, scaled, sizeof scaled) == 0;
}

/* mov $15, %rax; syscall (rt_sigreturn) */
static bool returns_from_signal(uint64_t code)
{
    static const uint8_t begin[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f};
    return memcmp(&code, begin, sizeof begin) == 0;
}

/* Whether code returns there without a call before. */
static bool is_entry(struct memory *memory, uint64_t address)
{
    uint64_t code;
    return memory_load(memory, address, &code) &&
           (returns_from_signal(code) || (return_to_interpreter(code) && !in_module(address)));
}

/* nop; call goexit1; nop */
bool return_ends_goroutine(struct memory *memory, uint64_t address)
{
    enum { NOP = 0x90, CALL = 0xe8 };
    uint8_t code[7];
    return memory_read_guarded(memory, address - 1, code, sizeof code) && code[0] == NOP &&
           code[1] == CALL && code[6] == NOP;
}

bool return_address_is_plausible(struct memory *memory, const struct frame *frame, uint64_t address)
{
    return !on_stack(memory, frame, address) &&
           (call_site_is_before(memory, address) || is_entry(memory, address));
}

/* Numbers are frequent on the stacks of interpreters; V8's small ones have 32 bits of zeros below.
 * To read where they point to would fault, which takes longer than anything else here. */
static bool looks_like_code(uint64_t address)
{
    return (uint32_t)address != 0;
}

bool return_address_at(struct memory *memory, const struct frame *frame, uint64_t place,
                       uint64_t *value)
{
    return memory_spend_in_search(memory, 1) && memory_load(memory, place, value) &&
           looks_like_code(*value) &&
           (return_address_is_plausible(memory, frame, *value) ||
            return_ends_goroutine(memory, *value));
}

bool return_address_guessed_at(struct memory *memory, const struct frame *frame, uint64_t place,
                               uint64_t *value)
{
    return return_address_at(memory, frame, place, value) &&
           return_address_is_plausible(memory, frame, *value) &&
           may_call(memory, *value, frame->pc);
}
