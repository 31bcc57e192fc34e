#include "hpcrun/outside/foreign-memory.h"

#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/measured-process.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* The number of bytes at the copy's end that are compared, of a short copy half of it. They span several frames, since calls
 * do not write all bytes of a large frame. Of clang's paths that had the rest of another time, 4 % were wrong with 256
 * bytes of 8 KB, 0.04 % with 4096 (27 November 2026). */
#define COMPARED_BYTES 4096u
#define STACK_BYTES    (64u << 20) /* a stack reaches at most so far */

/* Addresses of which a stack can be known, the end of the copy in their middle; they take memory when they are used. And
 * the bytes that are read at once: the rest of a stack is read in a few parts, each as large as all before. */
#define KNOWN_BYTES ((uint64_t)16 << 20)
#define PART_BYTES  ((uint64_t)64 << 10)

static struct {
    struct memory_elsewhere memory;
    struct known_stack *known;
    const uint8_t *stack; /* the copy, of the addresses [sp, end) */
    uint64_t sp, end;
    bool holds; /* what is known outside of the copy is so at the sample */
    enum stack_rest rest;
} current;

static uint8_t *known_at(const struct known_stack *known, uint64_t address)
{
    return known->bytes + (address - known->base);
}

static bool has_room(const struct known_stack *known, uint64_t low, uint64_t high)
{
    return known->bytes && low >= known->base && low <= high && high <= known->base + KNOWN_BYTES;
}

/* Bytes at the end of the copy. */
static size_t compared_bytes(void)
{
    uint64_t half = (current.end - current.sp) / 2;
    return half < COMPARED_BYTES ? half : COMPARED_BYTES;
}

static bool is_end_of_copy(const uint8_t *bytes)
{
    size_t size = compared_bytes();
    return size > 0 && memcmp(bytes, current.stack + (current.end - current.sp) - size, size) == 0;
}

/* ---- before ---- */

static bool was_in_place(void)
{
    const struct known_stack *known = current.known;
    uint64_t from = current.end - compared_bytes();
    return known->low <= from && current.end < known->high && has_room(known, current.sp, current.end) &&
           is_end_of_copy(known_at(known, from));
}

static void know_copy(void)
{
    memcpy(known_at(current.known, current.sp), current.stack, current.end - current.sp);
    current.known->low = current.sp;
}

/* ---- after ---- */

static bool is_in_place(void)
{
    uint8_t now[COMPARED_BYTES];
    size_t size = compared_bytes();
    bool has_changed = current.rest == REST_CHANGED || !measured_read(current.end - size, now, size) ||
                       !is_end_of_copy(now);
    current.rest = has_changed ? REST_CHANGED : REST_READ;
    return !has_changed;
}

static bool begin_known(void)
{
    struct known_stack *known = current.known;
    if (!known->bytes) {
        void *at = mmap(NULL, KNOWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        known->bytes = at == MAP_FAILED ? NULL : at;
    }
    known->base = current.end / PAGE * PAGE - KNOWN_BYTES / 2;
    known->low = known->high = current.end;
    if (!has_room(known, current.sp, current.end))
        return false;
    know_copy();
    current.holds = true;
    return true;
}

/* Reads the next part of the stack. Compares after it has read: what was in its place then was there before. */
static bool read_part(struct memory *memory)
{
    struct known_stack *known = current.known;
    if (!current.holds && (!is_in_place() || !begin_known()))
        return false;
    uint64_t part = known->high - current.end;
    uint64_t to = (known->high + (part < PART_BYTES ? PART_BYTES : part)) / PAGE * PAGE;
    if (!has_room(known, known->high, to))
        return false;
    size_t size = measured_read_part(known->high, known_at(known, known->high), to - known->high);
    if (size == 0 || !is_in_place())
        return false;
    known->high += size;
    current.memory.stack = known_at(known, current.sp);
    current.memory.stack_bytes = known->high - current.sp;
    memory_set_elsewhere(memory, current.sp, &current.memory);
    return true;
}

/* Whether the page has bytes of the stack. What the copy has of them is read there (memory_is_own). */
static bool is_on_stack(uint64_t page)
{
    return page + PAGE > current.sp && page < current.sp + STACK_BYTES;
}

static bool read_page(struct memory *memory, uint64_t page, uint8_t *to)
{
    const struct known_stack *known = current.known;
    if (!is_on_stack(page))
        return measured_read(page, to, PAGE);
    while ((!current.holds || known->high < page + PAGE) && read_part(memory))
        continue;
    if (current.holds && known->low <= page && page + PAGE <= known->high) {
        memcpy(to, known_at(known, page), PAGE);
        return true;
    }
    return current.rest != REST_CHANGED && measured_read(page, to, PAGE) && is_in_place();
}

/* ---- notes ---- */

/* At addresses of this program, where the process has nothing (main.c). */
static _Alignas(8) int notes[4096][2];

uint64_t foreign_memory_note(int tid, int number)
{
    int *note = notes[(unsigned)tid % (sizeof notes / sizeof *notes)];
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

/* ---- a sample ---- */

const struct memory_elsewhere *foreign_memory(struct known_stack *known, uint64_t sp, const uint8_t *stack, size_t bytes)
{
    current.known = known;
    current.stack = stack;
    current.sp = sp;
    current.end = sp + bytes;
    current.rest = REST_UNREAD;
    current.memory =
        (struct memory_elsewhere){.stack = stack, .stack_bytes = bytes, .read_page = read_page, .read = read_now,
                                  .read_caught = caught_read, .is_caught = caught_is_whole, .hint = caught_hint()};
    current.holds = was_in_place();
    if (current.holds) {
        know_copy();
        current.memory.stack = known_at(known, sp);
        current.memory.stack_bytes = known->high - sp;
    }
    return &current.memory;
}

enum stack_rest foreign_memory_rest(void)
{
    return current.rest;
}

void known_stack_release(struct known_stack *known)
{
    if (known->bytes)
        munmap(known->bytes, KNOWN_BYTES);
    *known = (struct known_stack){0};
}
