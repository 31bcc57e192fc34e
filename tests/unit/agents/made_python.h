/* An interpreter of Python that a test has built in its own memory, in a layout of its own. Each test includes it once. */
#ifndef TESTS_UNIT_AGENTS_MADE_PYTHON_H
#define TESTS_UNIT_AGENTS_MADE_PYTHON_H

#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-names.h"

/* ---- structures as CPython has them, in a layout of the test's own ---- */

struct text {
    uint64_t header, length, hash, state;
    char data[64];
};

struct lines {
    uint64_t header[2], size, hash;
    char data[64];
};

struct code {
    uint64_t type, pad, size, more_pad[5]; /* type at 0; the parts from 64 on are read at once */
    uint32_t first_line, first_traceable;
    struct text *file, *name;
    struct lines *lines;
    uint64_t more[8];
    uint16_t instruction[64];
};

struct function {
    void *type;
    struct code *code;
    uint64_t version;
};

struct frame {
    struct code *code;
    struct frame *previous;
    uint16_t *instruction;
    uint8_t is_entry, owner;
    uint32_t copy;
    struct function *function;
    uint64_t pad[6];
};

struct copies {
    uint64_t count;
    uint16_t *at[2];
};

struct cframe {
    struct frame *newest;
    struct cframe *previous;
};

struct thread_state {
    struct thread_state *next;
    uint64_t id;
    void *frame;
};

struct interpreter {
    struct interpreter *next;
    struct thread_state *threads;
};

static struct {
    struct interpreter *first;
} runtime;

static char code_type;

static struct python_layout layout = {
    .interpreters = 0,
    .interpreter_next = offsetof(struct interpreter, next),
    .interpreter_threads = offsetof(struct interpreter, threads),
    .thread_next = offsetof(struct thread_state, next),
    .thread_id = offsetof(struct thread_state, id),
    .thread_frame = offsetof(struct thread_state, frame),
    .cframe_frame = offsetof(struct cframe, newest),
    .cframe_previous = offsetof(struct cframe, previous),
    .frame_code = offsetof(struct frame, code),
    .frame_previous = offsetof(struct frame, previous),
    .frame_instruction = offsetof(struct frame, instruction),
    .frame_is_entry = offsetof(struct frame, is_entry),
    .frame_owner = offsetof(struct frame, owner),
    .object_type = offsetof(struct code, type),
    .code_first_line = offsetof(struct code, first_line),
    .code_file = offsetof(struct code, file),
    .code_name = offsetof(struct code, name),
    .code_lines = offsetof(struct code, lines),
    .code_first_traceable = offsetof(struct code, first_traceable),
    .code_start = offsetof(struct code, instruction),
    .text_length = offsetof(struct text, length),
    .text_hash = offsetof(struct text, hash),
    .text_state = offsetof(struct text, state),
    .text_kind_bit = 2,
    .text_ascii = offsetof(struct text, data),
    .text_compact = offsetof(struct text, data),
    .bytes_size = offsetof(struct lines, size),
    .bytes_start = offsetof(struct lines, data),
};

static unsigned reads;

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    reads++;
    if (address < 4096)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static struct agent_name asked;
static uint64_t names_given;

static uint64_t name(const struct agent_cursor *cursor, const struct agent_name *its)
{
    asked = *its;
    return ++names_given;
}

static bool has_missed;

static inline bool is_caught(const struct agent_cursor *its)
{
    (void)its;
    return !has_missed;
}

static const struct agent_host host = {.read = read_memory, .name = name};
static const struct agent_cursor cursor;
static const struct python_reader reader = {&host, &cursor, &layout};

/* ---- a thread with frames ---- */

enum {
    OWNED_BY_THREAD,
    OWNED_BY_GENERATOR,
    OWNED_BY_C_STACK = 3,
    ASCII = 1 << 2 | 1 << 5 | 1 << 6
};

static struct interpreter interpreter;
static struct thread_state thread, other;
static struct text file_text, name_text;
static struct lines table;
static struct code code;
/* From the innermost frame outwards: two activations, of frames 0 to 1 and 3; from 3.12 on, 2 and 4 are
 * variables of the eval loop. */
static struct frame frame[5];
static struct cframe cframe[3];

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

STEP(begin)
{
    uint64_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    layout.runtime = address(&runtime);
    layout.code_type = address(&code_type);
    runtime.first = &interpreter;
    interpreter = (struct interpreter){.threads = &other};
    other = (struct thread_state){.next = &thread, .id = 1};
    thread = (struct thread_state){.id = self};
    file_text = (struct text){.length = 4, .state = ASCII, .data = "m.py"};
    name_text = (struct text){.length = 1, .hash = 77, .state = ASCII, .data = "f"};
    table = (struct lines){.size = 2, .data = "ab"};
    code = (struct code){.type = address(&code_type),
                         .first_line = 30,
                         .first_traceable = 1,
                         .file = &file_text,
                         .name = &name_text,
                         .lines = &table};
    memset(frame, 0, sizeof frame);
    memset(cframe, 0, sizeof cframe);
}

static inline void begin_3_11(void)
{
    layout.minor = 11;
    frame[0] = (struct frame){&code, &frame[1], &code.instruction[5], .is_entry = false};
    frame[1] = (struct frame){&code, &frame[3], &code.instruction[9], .is_entry = true};
    frame[3] = (struct frame){&code, NULL, &code.instruction[2], .is_entry = true};
    cframe[0] = (struct cframe){&frame[0], &cframe[1]};
    cframe[1] = (struct cframe){&frame[3], &cframe[2]}; /* the last one has no frame */
    thread.frame = &cframe[0];
}

static inline void begin_3_13(void)
{
    layout.minor = 13;
    frame[0] = (struct frame){&code, &frame[1], &code.instruction[5], .owner = OWNED_BY_THREAD};
    frame[1] = (struct frame){&code, &frame[2], &code.instruction[9], .owner = OWNED_BY_GENERATOR};
    frame[2] = (struct frame){&code, &frame[3], NULL, .owner = OWNED_BY_C_STACK};
    frame[3] = (struct frame){&code, &frame[4], &code.instruction[2], .owner = OWNED_BY_THREAD};
    frame[4] = (struct frame){&code, NULL, NULL, .owner = OWNED_BY_C_STACK};
    thread.frame = &frame[0];
}

#endif
