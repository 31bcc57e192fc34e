#include "hpcrun/outside/foreign-memory.h"

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/measured-process.h"

#include <string.h>

#define PAGE 4096u

/* The number of bytes at the copy's end that are compared, of a short copy half of it. They span several frames, since
 * calls do not write all bytes of a large frame. Of clang's paths that had the rest of another time, 4 % were wrong
 * with 256 bytes of 8 KB, 0.04 % with 4096 (27 November 2026). */
#define COMPARED_BYTES 4096u
#define STACK_BYTES    (64u << 20) /* a stack reaches at most so far */

static struct {
    struct memory_elsewhere memory;
    enum stack_rest rest;
} current;

/* Whether the page has bytes of the stack. What the copy has of them is read there (memory_is_own). */
static bool is_on_stack(const struct memory *memory, uint64_t page)
{
    return page + PAGE > memory->own_low && page < memory->own_low + STACK_BYTES;
}

/* False if there is nothing to compare. */
static bool is_in_place(const struct memory *memory)
{
    uint8_t now[COMPARED_BYTES];
    size_t bytes = current.memory.stack_bytes;
    size_t size = bytes / 2 < sizeof now ? bytes / 2 : sizeof now;
    const uint8_t *then = current.memory.stack + bytes - size;
    bool has_changed = current.rest == REST_CHANGED || size == 0 ||
                       !measured_read(memory->own_low + bytes - size, now, size) || memcmp(now, then, size) != 0;
    current.rest = has_changed ? REST_CHANGED : REST_READ;
    return !has_changed;
}

/* Compares after it has read: what was in its place then was there before. */
static bool read_page(const struct memory *memory, uint64_t page, uint8_t *to)
{
    return measured_read(page, to, PAGE) && (memory->compares || !is_on_stack(memory, page) || is_in_place(memory));
}

/* At addresses of this program, where the process has nothing (main.c). */
static _Alignas(8) int notes[AGENT_CHUNKS * AGENT_SLOTS][2];

uint64_t foreign_memory_note(uint32_t slot, int number)
{
    int *note = notes[slot];
    *note = number;
    return (uint64_t)(uintptr_t)note;
}

static bool read_now(uint64_t address, void *to, size_t size)
{
    uint64_t in_notes = address - (uint64_t)(uintptr_t)notes;
    if (in_notes >= sizeof notes || size > sizeof notes - in_notes)
        return measured_read(address, to, size);
    memcpy(to, (const uint8_t *)notes + in_notes, size);
    return true;
}

const struct memory_elsewhere *foreign_memory(const uint8_t *stack, size_t bytes)
{
    current.memory =
        (struct memory_elsewhere){.stack = stack, .stack_bytes = bytes, .read_page = read_page, .read = read_now,
                                  .read_caught = caught_read, .is_caught = caught_is_whole, .hint = caught_hint()};
    current.rest = REST_UNREAD;
    return &current.memory;
}

enum stack_rest foreign_memory_rest(void)
{
    return current.rest;
}
