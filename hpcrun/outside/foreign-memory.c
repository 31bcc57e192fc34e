#include "hpcrun/outside/foreign-memory.h"

#include "hpcrun/logical/wait-slots.h"
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
    const struct caught *caught; /* has the rest of this stack; NULL: nothing has */
} current;

/* Whether the page has bytes of the stack. What the copy has of them is read there (memory_is_own). */
static bool is_on_stack(const struct memory *memory, uint64_t page)
{
    return page + PAGE > memory->own_low && page < memory->own_low + STACK_BYTES;
}

/* Whether the end of the copy is in `caught`, or, if that is NULL, in the process now. False if there is nothing to
 * compare. */
static bool is_in_place(const struct memory *memory, const struct caught *caught)
{
    uint8_t now[COMPARED_BYTES];
    size_t bytes = current.memory.stack_bytes;
    size_t size = bytes / 2 < sizeof now ? bytes / 2 : sizeof now;
    uint64_t from = memory->own_low + bytes - size;
    const uint8_t *then = current.memory.stack + bytes - size;
    bool is_read = size > 0 && (caught ? caught_copy(caught, from, now, size) : measured_read(from, now, size));
    return is_read && memcmp(now, then, size) == 0;
}

static void note(enum stack_rest rest)
{
    current.rest = rest > current.rest ? rest : current.rest;
}

/* As it was at the sample. */
static bool read_caught_page(const struct memory *memory, uint64_t page, uint8_t *to)
{
    if (current.caught && !is_in_place(memory, current.caught))
        current.caught = NULL;
    if (!current.caught || !caught_copy(current.caught, page, to, PAGE))
        return false;
    note(REST_CAUGHT);
    return true;
}

/* Compares after it has read: what was in its place then was there before. */
static bool read_page_now(const struct memory *memory, uint64_t page, uint8_t *to)
{
    if (!measured_read(page, to, PAGE))
        return false;
    if (memory->compares)
        return true;
    bool is_same = current.rest != REST_CHANGED && is_in_place(memory, NULL);
    note(is_same ? REST_READ : REST_CHANGED);
    return is_same;
}

static bool read_page(const struct memory *memory, uint64_t page, uint8_t *to)
{
    if (!is_on_stack(memory, page))
        return measured_read(page, to, PAGE);
    return read_caught_page(memory, page, to) || read_page_now(memory, page, to);
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

const struct memory_elsewhere *foreign_memory(const uint8_t *stack, size_t bytes, const struct caught *caught)
{
    current.memory =
        (struct memory_elsewhere){.stack = stack, .stack_bytes = bytes, .read_page = read_page, .read = read_now,
                                  .read_caught = caught_read, .is_caught = caught_is_whole, .hint = caught_hint()};
    current.rest = REST_UNREAD;
    current.caught = caught;
    return &current.memory;
}

enum stack_rest foreign_memory_rest(void)
{
    return current.rest;
}
