/* Handler. */
#include "agents/python/python-locks.h"

/* What is read at most, so that a sample takes no more than some microseconds. Further out, and in longer tables, no
 * locks are found. */
#define MOST_FRAMES      64
#define MOST_TABLE_BYTES 1024
#define MOST_DEPTH       32
#define MOST_BLOCKS      (sizeof((struct python_blocks *)0)->locks / sizeof(uint64_t))

/* In structures of 3.13 and 3.14. */
enum {
    EXCEPTIONS_BEFORE_LINE = 28, /* in a code object: the table, before its first line */
    LOCALS_AFTER_LINE = 4,
    HEADER = 16, /* of an object, in builds with a GIL; a lock's byte follows, and an instance's size in its type */
    SIZE_IN_TYPE = 32,
    RECURSIVE_MUTEX = 24, /* what an RLock of 3.14 has: the byte, the thread that has it, and how often */
};

/* ---- a table of exceptions: Objects/exception_handling_notes.txt of CPython ---- */

struct table {
    const struct python_reader *reader;
    uint64_t at, end, word; /* word: the one that has the byte before `at` */
};

static uint32_t take_byte(struct table *table)
{
    uint64_t offset = table->at % sizeof(uint64_t);
    if (table->at >= table->end)
        return 0;
    if (offset == 0 || table->word == 0)
        table->word = python_word(table->reader, table->at - offset);
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
static uint32_t depth_at(struct table *table, int64_t instruction)
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

/* ---- blocks of `with` ---- */

static void add_object(const struct python_reader *r, uint64_t object, struct python_blocks *blocks)
{
    if (object && blocks->count < MOST_BLOCKS)
        blocks->locks[blocks->count++] = object + HEADER + r->layout->object_more;
}

/* The values that blocks have pushed: see the header. A method of 3.14 begins with its type, after the header. */
static void add_values(const struct python_reader *r, uint64_t stack, uint32_t depth, struct python_blocks *blocks)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < depth && i < MOST_DEPTH; i++) {
        uint64_t value = python_word(r, stack + i * sizeof value) & ~PYTHON_TAGS, type = python_type(r, value);
        if (r->layout->minor > 13 && before && type && python_field(r, before, HEADER) == type)
            add_object(r, value, blocks);
        else if (r->layout->minor == 13 && type && type == r->layout->bound_method)
            add_object(r, python_field(r, value, HEADER + sizeof value), blocks);
        before = value;
    }
}

static void add_frame(const struct python_reader *r, uint64_t at, const struct python_frame *frame,
                      struct python_blocks *blocks)
{
    const struct python_layout *layout = r->layout;
    if (python_type(r, frame->code) != layout->code_type || frame->position < 0)
        return;
    uint64_t bytes = python_word(r, frame->code + layout->code_first_line - EXCEPTIONS_BEFORE_LINE);
    uint64_t size = bytes ? python_word(r, bytes + layout->bytes_size) : 0, start = bytes + layout->bytes_start;
    if (size > MOST_TABLE_BYTES)
        return;
    struct table table = {r, start, start + size, 0};
    uint64_t locals = agent_u32(r->host, r->cursor, frame->code + layout->code_first_line + LOCALS_AFTER_LINE);
    add_values(r, at + layout->frame_locals + locals * sizeof locals, depth_at(&table, frame->position), blocks);
}

static void find_blocks(const struct python_reader *r, uint64_t thread, struct python_blocks *blocks)
{
    uint64_t at = python_word(r, thread + r->layout->thread_frame), frame = 0;
    *blocks = (struct python_blocks){.is_known = true};
    for (int i = 0; i < MOST_FRAMES && at != frame && at && blocks->count < MOST_BLOCKS; i++) {
        frame = at;
        const struct python_frame its = python_frame_next(r, &at);
        add_frame(r, frame, &its, blocks);
    }
}

static bool is_in_with_of(const struct python_reader *r, uint64_t thread, uint64_t lock, struct python_blocks *blocks)
{
    if (!blocks->is_known)
        find_blocks(r, thread, blocks);
    for (uint32_t i = 0; i < blocks->count; i++)
        if (blocks->locks[i] == lock)
            return true;
    return false;
}

/* ---- other locks ---- */

/* An object of an RLock's size: so does the lock say who has it. */
static bool is_owner_of(const struct python_reader *r, uint64_t thread, uint64_t lock)
{
    const struct python_layout *layout = r->layout;
    uint64_t object = lock - HEADER - layout->object_more;
    uint64_t type = layout->minor > 13 ? python_type(r, object) : 0;
    return type && python_field(r, type, SIZE_IN_TYPE) == lock - object + RECURSIVE_MUTEX &&
           python_word(r, lock + sizeof lock) == python_word(r, thread + layout->thread_id);
}

/* Bits of a pointer to a section. IS_LEFT: the thread has let go of its locks and those of the sections around it. */
enum { IS_LEFT = 1, HAS_TWO = 2, SECTION_BITS = 3 };

/* No code is in as many sections. */
#define MOST_SECTIONS 32

static bool is_in_section_of(const struct python_reader *r, uint64_t thread, uint64_t lock)
{
    uint64_t section = r->layout->thread_sections ? python_word(r, thread + r->layout->thread_sections) : 0;
    for (int i = 0; i < MOST_SECTIONS && section && !(section & IS_LEFT); i++) {
        uint64_t at = section & ~(uint64_t)SECTION_BITS;
        if (python_word(r, at + 8) == lock || (section & HAS_TWO && python_word(r, at + 16) == lock))
            return true;
        section = python_word(r, at);
    }
    return false;
}

bool python_has_lock(const struct python_reader *r, uint64_t thread, uint64_t lock, struct python_blocks *blocks)
{
    if ((int)agent_u32(r->host, r->cursor, thread + r->layout->thread_tid) != r->cursor->tid)
        return false;
    return is_in_section_of(r, thread, lock) || is_owner_of(r, thread, lock) || is_in_with_of(r, thread, lock, blocks);
}
