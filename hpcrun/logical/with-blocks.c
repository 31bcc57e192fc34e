#include "hpcrun/logical/with-blocks.h"

/* What is read at most, so that a sample takes no more than some microseconds. Further out, and in longer tables, no
 * locks are found. */
#define MOST_FRAMES      64
#define MOST_TABLE_BYTES 1024
#define MOST_DEPTH       32

/* Low bits of a reference. */
#define TAGS UINT64_C(7)

/* ---- a table of exceptions: Objects/exception_handling_notes.txt of CPython ---- */

struct table {
    struct memory *memory;
    uint64_t at, end, word; /* word: the one that has the byte before `at` */
};

static uint32_t take_byte(struct table *table)
{
    uint64_t offset = table->at % sizeof(uint64_t);
    if (table->at >= table->end)
        return 0;
    if (offset == 0 || table->word == 0)
        table->word = memory_word(table->memory, table->at - offset);
    table->at++;
    return table->word >> 8 * offset & 0xff;
}

/* Bit 6: more bytes follow; bit 7: an entry begins. */
static uint32_t take_number(struct table *table)
{
    uint32_t byte = take_byte(table), number = byte & 0x3f;
    while (byte & 0x40 && table->at < table->end) {
        byte = take_byte(table);
        number = number << 6 | (byte & 0x3f);
    }
    return number;
}

/* The depth of the stack at an instruction, as its entry says; 0: it has none. */
static uint32_t depth_at(struct table *table, uint32_t instruction)
{
    while (table->at < table->end) {
        uint32_t start = take_number(table), size = take_number(table);
        take_number(table); /* the target */
        uint32_t depth = take_number(table) >> 1;
        if (instruction < start)
            return 0;
        if (instruction - start < size)
            return depth;
    }
    return 0;
}

/* ---- frames ---- */

static void add_object(const struct agent_frames *frames, uint64_t object, struct with_blocks *blocks)
{
    if (object && blocks->count < MOST_WITH_BLOCKS)
        blocks->locks[blocks->count++] = object + frames->object_size;
}

/* The values that a block has pushed: see the header. */
static void add_values(struct memory *memory, const struct agent_frames *frames, uint64_t stack, uint32_t depth,
                       struct with_blocks *blocks)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < depth && i < MOST_DEPTH; i++) {
        uint64_t value = memory_word(memory, stack + i * sizeof value) & ~TAGS;
        uint64_t type = value ? memory_word(memory, value + frames->object_type) : 0;
        uint64_t type_of_method = before && type ? memory_word(memory, before + frames->object_size) : 0;
        if (!frames->has_bound_exits && type_of_method && type_of_method == type)
            add_object(frames, value, blocks);
        else if (frames->has_bound_exits && type && type == frames->bound_method)
            add_object(frames, memory_word(memory, value + frames->object_size + sizeof value), blocks);
        before = value;
    }
}

static void add_frame(struct memory *memory, const struct agent_frames *frames, uint64_t frame,
                      struct with_blocks *blocks)
{
    uint64_t code = memory_word(memory, frame + frames->code) & ~TAGS;
    if (!code || memory_word(memory, code + frames->object_type) != frames->code_type)
        return;
    uint64_t instruction = memory_word(memory, frame + frames->instruction) - (code + frames->code_start);
    uint64_t bytes = memory_word(memory, code + frames->code_exceptions);
    uint64_t size = bytes ? memory_word(memory, bytes + frames->bytes_size) : 0, start = bytes + frames->bytes_start;
    if (size == 0 || size > MOST_TABLE_BYTES || instruction > UINT32_MAX)
        return;
    struct table table = {.memory = memory, .at = start, .end = start + size};
    uint32_t depth = depth_at(&table, (uint32_t)instruction / 2);
    uint64_t locals = memory_half_word(memory, code + frames->code_locals);
    add_values(memory, frames, frame + frames->locals + locals * sizeof locals, depth, blocks);
}

void with_blocks_find(struct memory *memory, const struct agent_frames *frames, uint64_t thread,
                      struct with_blocks *blocks)
{
    blocks->count = 0;
    uint64_t frame = memory_word(memory, thread + frames->newest);
    for (int i = 0; i < MOST_FRAMES && frame && blocks->count < MOST_WITH_BLOCKS; i++) {
        add_frame(memory, frames, frame, blocks);
        frame = memory_word(memory, frame + frames->previous);
    }
}
