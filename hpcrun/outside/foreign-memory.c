#include "hpcrun/outside/foreign-memory.h"

#include "hpcrun/outside/measured-process.h"

#include <string.h>

#define PAGE 4096u

/* Bytes at the end of the copy that must be in their place for what is outside of it to be used; and how
 * far outside, at most, a stack goes. */
#define COMPARED_BYTES 256u
#define STACK_BYTES    (64u << 20)

static struct {
    struct memory_elsewhere memory;
    bool has_changed; /* the end of the copy is no longer what the process has there */
} current;

static bool is_outer_stack(const struct memory *memory, uint64_t page)
{
    uint64_t end = memory->own_low + current.memory.stack_bytes;
    return page + PAGE > end && page - (end & ~(uint64_t)(PAGE - 1)) < STACK_BYTES;
}

static bool is_in_place(const struct memory *memory)
{
    uint8_t now[COMPARED_BYTES];
    size_t bytes = current.memory.stack_bytes;
    size_t size = bytes < sizeof now ? bytes : sizeof now;
    const uint8_t *then = current.memory.stack + bytes - size;
    if (!current.has_changed)
        current.has_changed = !measured_read(memory->own_low + bytes - size, now, size) ||
                              memcmp(now, then, size) != 0;
    return !current.has_changed;
}

/* The bytes of the page that the copy has. */
static void overlay_copy(const struct memory *memory, uint64_t page, uint8_t *to)
{
    uint64_t low = memory->own_low, end = low + current.memory.stack_bytes;
    uint64_t from = low > page ? low : page, until = end < page + PAGE ? end : page + PAGE;
    if (from < until)
        memcpy(to + (from - page), current.memory.stack + (from - low), until - from);
}

/* Compares after it has read: what was in its place then was there before. */
static bool read_page(const struct memory *memory, uint64_t page, uint8_t *to)
{
    if (!measured_read(page, to, PAGE) || (is_outer_stack(memory, page) && !is_in_place(memory)))
        return false;
    overlay_copy(memory, page, to);
    return true;
}

const struct memory_elsewhere *foreign_memory(const uint8_t *stack, size_t bytes)
{
    current.memory =
        (struct memory_elsewhere){.stack = stack, .stack_bytes = bytes, .read_page = read_page};
    current.has_changed = false;
    return &current.memory;
}
