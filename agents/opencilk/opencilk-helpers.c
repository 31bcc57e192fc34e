#include "agents/opencilk/opencilk-helpers.h"

#include <stdlib.h>
#include <string.h>

/* A helper that spawns nothing itself and has at most this many bytes has only room for the spawn
 * and the call, none for user code. */
#define MAX_PLAIN_HELPER_BYTES 512

/* -------- reading code -------- */

/* A range of executable code, and the two functions that it may call: their slots in the module's
 * linkage table, and their addresses if they are in the module. 0: none. */
struct code {
    const uint8_t *start, *end;
    uint64_t slot[2], function[2];
};

enum { CHILD_RETURNS, SYNC };

/* The target of an instruction with `size` opcode bytes and then a 32-bit relative address. */
static uint64_t target(const uint8_t *at, size_t size)
{
    int32_t distance;
    memcpy(&distance, at + size, sizeof distance);
    return (uint64_t)at + size + sizeof distance + (uint64_t)(int64_t)distance;
}

/* The slot through which a stub of the linkage table at `at` jumps; 0 if `at` is no stub. */
static uint64_t slot_of_stub(const struct code *code, uint64_t at)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *stub = (const uint8_t *)at;
    if (at < (uint64_t)code->start || at + 12 > (uint64_t)code->end)
        return 0;
    if (memcmp(stub, landing, sizeof landing) == 0)
        stub += sizeof landing;
    if (*stub == 0xf2)
        stub++;
    return stub[0] == 0xff && stub[1] == 0x25 ? target(stub, 2) : 0;
}

/* Whether an instruction at `at` calls the function or tail-calls it. Works at any byte, as if an
 * instruction began there. */
static bool is_call(const struct code *code, const uint8_t *at, int which)
{
    uint64_t called = 0;
    if (at[0] == 0xff && at[1] == 0x15)
        return code->slot[which] && target(at, 2) == code->slot[which];
    if (at[0] == 0xe8 || at[0] == 0xe9)
        called = target(at, 1);
    else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80)
        called = target(at, 2);
    if (!called)
        return false;
    return called == code->function[which] ||
           (code->slot[which] && slot_of_stub(code, called) == code->slot[which]);
}

/* Whether [start, end) calls the function. */
static bool calls(const struct code *code, uint64_t start, uint64_t end, int which)
{
    for (const uint8_t *at = (const uint8_t *)start; at + 6 <= code->end; at++)
        if ((uint64_t)at >= end)
            break;
        else if (is_call(code, at, which))
            return true;
    return false;
}

struct found {
    struct agent_claim *at;
    size_t count;
};

static void add(struct found *found, const struct agent_claim *helper)
{
    struct agent_claim *more = realloc(found->at, (found->count + 1) * sizeof *more);
    if (!more)
        return;
    more[found->count++] = *helper;
    found->at = more;
}

static void search(const struct image *image, const struct code *code, struct found *found)
{
    for (const uint8_t *at = code->start; at + 6 <= code->end; at++) {
        struct agent_claim helper = {.tag = HELPER};
        if (!is_call(code, at, CHILD_RETURNS) ||
            !image_function(image, (uint64_t)at, &helper.start, &helper.end))
            continue;
        if (helper.end - helper.start > MAX_PLAIN_HELPER_BYTES ||
            calls(code, helper.start, helper.end, SYNC))
            helper.tag = HELPER_WITH_USER_CODE;
        add(found, &helper);
        at = (const uint8_t *)helper.end - 1;
    }
}

struct agent_claim *helpers_find(const struct image *image, size_t *count)
{
    static const char *const names[] = {"Cilk_exception_handler", "__cilkrts_sync"};
    struct code code = {0};
    struct found found = {0};
    for (int i = 0; i < 2; i++) {
        const ElfW(Sym) *symbol = image_symbol(image, names[i]);
        code.slot[i] = image_slot(image, names[i]);
        code.function[i] = symbol ? image->bias + symbol->st_value : 0;
    }
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *header = &image->headers[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || !(header->p_flags & PF_R))
            continue;
        code.start = (const uint8_t *)(image->bias + header->p_vaddr);
        code.end = code.start + header->p_filesz;
        if (code.slot[CHILD_RETURNS] || code.function[CHILD_RETURNS])
            search(image, &code, &found);
    }
    *count = found.count;
    return found.at;
}
