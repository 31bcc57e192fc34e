#include "agents/opencilk/helpers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A helper of at most so many bytes, in which nothing is spawned, has room for the spawn and the
 * call. */
#define MOST_BYTES_OF_SPAWN 512

/* Sorted and immutable: a change makes a new one. The old one stays, handlers may be reading it. */
struct helpers {
    size_t count;
    struct helper at[];
};

static _Atomic(const struct helpers *) current;

/* The first helper that ends after `address`. */
static size_t position(const struct helpers *helpers, uint64_t address)
{
    size_t low = 0, high = helpers->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (helpers->at[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const struct helper *helpers_at(uint64_t address)
{
    const struct helpers *helpers = atomic_load_explicit(&current, memory_order_acquire);
    size_t at = helpers ? position(helpers, address) : 0;
    return helpers && at < helpers->count && helpers->at[at].start <= address ? &helpers->at[at]
                                                                              : NULL;
}

/* A copy of the current ones with room for more; NULL without memory. */
static struct helpers *copy(size_t more)
{
    static const struct helpers none;
    const struct helpers *old = atomic_load(&current);
    if (!old)
        old = &none;
    struct helpers *new = malloc(sizeof *new + (old->count + more) * sizeof *new->at);
    if (new)
        memcpy(new, old, sizeof *new + old->count * sizeof *new->at);
    return new;
}

static int compare(const void *a, const void *b)
{
    const struct helper *first = a, *second = b;
    return (first->start > second->start) - (first->start < second->start);
}

void helpers_forget(uint64_t start, uint64_t end)
{
    struct helpers *left = atomic_load(&current) ? copy(0) : NULL;
    if (!left)
        return;
    size_t count = 0;
    for (size_t i = 0; i < left->count; i++)
        if (left->at[i].end <= start || left->at[i].start >= end)
            left->at[count++] = left->at[i];
    left->count = count;
    atomic_store_explicit(&current, left, memory_order_release);
}

/* -------- reading code -------- */

/* A stretch of executable code, and the slots of two functions that it may call. */
struct code {
    const uint8_t *start, *end;
    uint64_t slot[2];
};

enum { CHILD_RETURNS, SYNC };

/* `size` opcode bytes at `at` and then the distance to something, from behind it. */
static uint64_t target(const uint8_t *at, size_t size)
{
    int32_t distance;
    memcpy(&distance, at + size, sizeof distance);
    return (uint64_t)at + size + sizeof distance + (uint64_t)(int64_t)distance;
}

/* The slot that a stub of the linkage table at `at` jumps through; 0 when there is none. */
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

/* The slot that an instruction at `at` calls through, or jumps to at a function's end; 0 when it
 * is no such instruction. Any byte is looked at as if an instruction began there. */
static uint64_t slot_called(const struct code *code, const uint8_t *at)
{
    if (at[0] == 0xe8 || at[0] == 0xe9)
        return slot_of_stub(code, target(at, 1));
    if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80)
        return slot_of_stub(code, target(at, 2));
    return at[0] == 0xff && at[1] == 0x15 ? target(at, 2) : 0;
}

/* Whether [start, end) has a call of that function. */
static bool calls(const struct code *code, uint64_t start, uint64_t end, int which)
{
    for (const uint8_t *at = (const uint8_t *)start; code->slot[which] && at + 6 <= code->end; at++)
        if ((uint64_t)at >= end)
            break;
        else if (slot_called(code, at) == code->slot[which])
            return true;
    return false;
}

static struct helpers *add(struct helpers *helpers, const struct helper *helper)
{
    struct helpers *larger =
        realloc(helpers, sizeof *helpers + (helpers->count + 1) * sizeof *helpers->at);
    if (!larger)
        return helpers;
    larger->at[larger->count++] = *helper;
    return larger;
}

static struct helpers *search(const struct image *image, const struct code *code,
                              struct helpers *helpers)
{
    for (const uint8_t *at = code->start; at + 6 <= code->end; at++) {
        struct helper helper;
        if (slot_called(code, at) != code->slot[CHILD_RETURNS] ||
            !image_function(image, (uint64_t)at, &helper.start, &helper.end))
            continue;
        helper.has_user_code = helper.end - helper.start > MOST_BYTES_OF_SPAWN ||
                               calls(code, helper.start, helper.end, SYNC);
        helpers = add(helpers, &helper);
        at = (const uint8_t *)helper.end - 1;
    }
    return helpers;
}

void helpers_learn(const struct image *image, void (*found)(const struct helper *helper))
{
    struct code code = {
        .slot = {image_slot(image, "Cilk_exception_handler"), image_slot(image, "__cilkrts_sync")}};
    struct helpers *helpers = code.slot[CHILD_RETURNS] ? copy(0) : NULL;
    if (!helpers)
        return;
    size_t before = helpers->count;
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *header = &image->headers[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || !(header->p_flags & PF_R))
            continue;
        code.start = (const uint8_t *)(image->bias + header->p_vaddr);
        code.end = code.start + header->p_filesz;
        helpers = search(image, &code, helpers);
    }
    for (size_t i = before; i < helpers->count; i++)
        found(&helpers->at[i]);
    qsort(helpers->at, helpers->count, sizeof *helpers->at, compare);
    atomic_store_explicit(&current, helpers, memory_order_release);
}
