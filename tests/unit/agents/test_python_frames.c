/* agents/python: frames and names of Python code, read from memory that a test has built, in a layout
 * of its own. */
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

static bool is_caught(const struct agent_cursor *its)
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

static void begin_3_11(void)
{
    layout.minor = 11;
    frame[0] = (struct frame){&code, &frame[1], &code.instruction[5], .is_entry = false};
    frame[1] = (struct frame){&code, &frame[3], &code.instruction[9], .is_entry = true};
    frame[3] = (struct frame){&code, NULL, &code.instruction[2], .is_entry = true};
    cframe[0] = (struct cframe){&frame[0], &cframe[1]};
    cframe[1] = (struct cframe){&frame[3], &cframe[2]}; /* the last one has no frame */
    thread.frame = &cframe[0];
}

static void begin_3_13(void)
{
    layout.minor = 13;
    frame[0] = (struct frame){&code, &frame[1], &code.instruction[5], .owner = OWNED_BY_THREAD};
    frame[1] = (struct frame){&code, &frame[2], &code.instruction[9], .owner = OWNED_BY_GENERATOR};
    frame[2] = (struct frame){&code, &frame[3], NULL, .owner = OWNED_BY_C_STACK};
    frame[3] = (struct frame){&code, &frame[4], &code.instruction[2], .owner = OWNED_BY_THREAD};
    frame[4] = (struct frame){&code, NULL, NULL, .owner = OWNED_BY_C_STACK};
    thread.frame = &frame[0];
}

static void check_frames(const struct python_activation *activation, const uint64_t *expected,
                         unsigned count)
{
    uint64_t at = activation->newest;
    for (unsigned i = 0; i < count; i++) {
        struct python_frame its = python_frame_next(&reader, &at);
        assert_int_equal(its.code, address(&code));
        assert_int_equal(its.position, expected[i]);
        assert_int_equal(its.is_last, layout.minor == 11 && i + 1 == count);
    }
    if (layout.minor > 11) {
        assert_true(python_frame_is_end(&reader, at));
        struct python_frame end = python_frame_next(&reader, &at);
        assert_true(end.is_last && !end.code);
    }
}

static void check_activations(uint64_t first_mark, uint64_t second_mark)
{
    uint64_t known = 0;
    struct python_activation at = python_newest(&reader, &known);
    assert_int_equal(known, address(&thread));
    assert_int_equal(at.mark, first_mark);
    check_frames(&at, (const uint64_t[]){5, 9}, 2);
    at = python_activation_around(&reader, &at);
    assert_int_equal(at.mark, second_mark);
    check_frames(&at, (const uint64_t[]){2}, 1);
    at = python_activation_around(&reader, &at);
    assert_int_equal(at.mark, 0);
    uint32_t misses = 0;
    at = python_activation_in(&reader, second_mark, second_mark + 1, &misses);
    assert_int_equal(at.newest, address(&frame[3]));
    assert_int_equal(misses, 0);
    at = python_activation_in(&reader, second_mark + 1, second_mark + 2, &misses);
    assert_int_equal(at.mark, 0);
    assert_int_equal(misses, 1);
}

TEST(activations_of_3_11)
{
    begin_3_11();
    check_activations(address(&cframe[0]), address(&cframe[1]));
}

TEST(activations_of_3_13)
{
    begin_3_13();
    check_activations(address(&frame[2]), address(&frame[4]));
}

TEST(activations_of_3_12)
{
    begin_3_11();
    begin_3_13();
    layout.minor = 12;
    thread.frame = &cframe[0];
    check_activations(address(&cframe[0]), address(&cframe[1]));
}

/* As on a stack with a hundred frames of greenlets. */
TEST(searches_without_a_result_end)
{
    begin_3_13();
    uint32_t misses = 0;
    reads = 0;
    python_activation_in(&reader, 1, 2, &misses);
    unsigned for_one = reads;
    for (int i = 1; i < 100; i++)
        assert_int_equal(python_activation_in(&reader, 1, 2, &misses).mark, 0);
    assert_true(for_one > 0);
    assert_in_range(reads, 2 * for_one, 10 * for_one);
}

/* The newest frame is then the variable itself. */
TEST(an_activation_that_ends_has_no_frames)
{
    begin_3_13();
    thread.frame = &frame[2];
    uint64_t known = 0;
    struct python_activation at = python_newest(&reader, &known);
    assert_true(python_frame_is_end(&reader, at.newest));
}

TEST(a_thread_state_that_is_gone_is_looked_for)
{
    begin_3_13();
    struct thread_state freed = {.id = thread.id};
    uint64_t known = address(&freed);
    assert_int_equal(python_newest(&reader, &known).newest, address(&frame[0]));
    assert_int_equal(known, address(&thread));
    thread.id = 2;
    assert_int_equal(python_newest(&reader, &known).mark, 0);
    assert_int_equal(known, 0);
}

/* As without a GIL from 3.14 on; references have tags. */
TEST(a_frame_may_execute_a_copy_of_the_code)
{
    uint16_t second[64];
    struct copies copies = {2, {code.instruction, second}};
    begin_3_13();
    code.size = 64;
    code.more[0] = address(&copies);
    layout.code_copies = offsetof(struct code, more);
    layout.frame_copy = offsetof(struct frame, copy);
    frame[0].code = (struct code *)(address(&code) + 1);
    frame[0].instruction = &second[7];
    frame[0].copy = 1;
    frame[1].copy = 0;
    uint64_t at = address(&frame[0]);
    struct python_frame its = python_frame_next(&reader, &at);
    assert_int_equal(its.code, address(&code));
    assert_int_equal(its.position, 7);
    assert_int_equal(python_frame_next(&reader, &at).position, 9);
    frame[0].instruction = &code.instruction[8]; /* it is about to go on in the copy */
    at = address(&frame[0]);
    assert_int_equal(python_frame_next(&reader, &at).position, 8);
    layout.frame_copy = 0;
}

TEST(what_cannot_be_read_is_the_last_frame)
{
    uint64_t at = 8;
    assert_true(python_frame_next(&reader, &at).is_last);
}

TEST(an_interpreter_may_have_a_lock_of_its_own)
{
    static struct {
        uint64_t pad, holder;
    } lock, own;
    static struct {
        void *lock;
    } interpreter_state;
    static struct {
        void *interpreter;
    } its = {&interpreter_state};
    assert_false(python_has_other_lock(&reader, address(&its))); /* 3.11 */
    layout.thread_interpreter = layout.interpreter_lock = 0;
    layout.gil_in_state = 8;
    layout.gil_holder = address(&lock.holder);
    interpreter_state.lock = &lock;
    assert_false(python_has_other_lock(&reader, address(&its)));
    interpreter_state.lock = &own;
    assert_true(python_has_other_lock(&reader, address(&its)));
    interpreter_state.lock = NULL;
    assert_false(python_has_other_lock(&reader, address(&its)));
    layout.gil_in_state = 0;
}

/* ---- names ---- */

static const struct python_name *name_of(const struct python_reader *r, struct python_names *names, struct code *its)
{
    return python_name(r, names, &(struct python_frame){.code = address(its)});
}

TEST(a_name_has_the_texts_of_its_code)
{
    static struct python_names names;
    const struct python_name *its = name_of(&reader, &names, &code);
    assert_non_null(its);
    assert_int_equal(its->first_traceable, 1);
    assert_int_equal(asked.procedure.at, address(name_text.data));
    assert_int_equal(asked.procedure.length, 1);
    assert_int_equal(asked.procedure.width, 1);
    assert_int_equal(asked.file.at, address(file_text.data));
    assert_int_equal(asked.line, 30);
    assert_int_equal(asked.table, address(table.data));
    assert_int_equal(asked.table_bytes, 2);
    uint64_t value = its->value, given = names_given;
    assert_int_equal(name_of(&reader, &names, &code)->value, value);
    assert_int_equal(names_given, given);
}

/* The characters of a str of a subclass lie elsewhere. */
TEST(a_name_may_be_of_a_subclass_of_str)
{
    static struct python_names names;
    static const char characters[] = "page.html";
    uint64_t at = address(characters);
    file_text.state = 1 << 2 | 1 << 6; /* not compact */
    file_text.length = strlen(characters);
    memcpy(file_text.data, &at, sizeof at);
    assert_non_null(name_of(&reader, &names, &code));
    assert_int_equal(asked.file.at, at);
    assert_int_equal(asked.file.length, strlen(characters));
    assert_int_equal(asked.file.width, 1);
}

TEST(importlib_is_hidden)
{
    static struct python_names names;
    assert_false(name_of(&reader, &names, &code)->is_hidden);
    strcpy(file_text.data, "<frozen importlib._bootstrap>");
    file_text.length = strlen(file_text.data);
    names = (struct python_names){0};
    assert_true(name_of(&reader, &names, &code)->is_hidden);
}

/* Another code object at the same address differs in one of these. */
TEST(code_that_takes_the_place_of_freed_code_has_another_name)
{
    static struct python_names names;
    static struct text another;
    static struct lines other_table;
    uint64_t last = name_of(&reader, &names, &code)->value;
    another = name_text;
    other_table = table;
    for (int what = 0; what < 7; what++) {
        switch (what) {
        case 0: code.name = &another; break;
        case 1: code.file = &another; break;
        case 2: code.lines = &other_table; break;
        case 3: code.first_line++; break;
        case 4: code.name->hash++; break;
        case 5: code.lines->size++; break;
        case 6: code.lines->data[0]++; break;
        }
        uint64_t value = name_of(&reader, &names, &code)->value;
        assert_int_not_equal(value, last);
        last = value;
    }
}

/* What it refers to is not read, and not compared, while the version is the same: from 3.12 on. */
TEST(code_has_the_name_of_its_version)
{
    static struct python_names names;
    static struct text another;
    layout.code_version = offsetof(struct code, more);
    code.more[0] = 7;
    uint64_t last = name_of(&reader, &names, &code)->value;
    reads = 0;
    assert_int_equal(name_of(&reader, &names, &code)->value, last);
    assert_int_equal(reads, 2); /* its type, its words */
    code.name->hash++;
    assert_int_equal(name_of(&reader, &names, &code)->value, last);
    code.more[0] = 8;
    uint64_t next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, last);
    code.more[0] = 0; /* the interpreter has given out all versions */
    code.name->hash++;
    last = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(last, next);
    code.name->hash++;
    next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, last);
    code.more[0] = 9;
    last = name_of(&reader, &names, &code)->value;
    another = name_text;
    code.name = &another; /* of another interpreter */
    assert_int_not_equal(name_of(&reader, &names, &code)->value, last);
    layout.code_version = 0;
}

/* Recursion: it is read at its first frame only; at the next sample, it may be another one. */
TEST(code_is_compared_once_at_a_sample)
{
    static struct python_names names;
    python_names_begin(&names);
    uint64_t first = name_of(&reader, &names, &code)->value;
    reads = 0;
    assert_int_equal(name_of(&reader, &names, &code)->value, first);
    assert_int_equal(reads, 0);
    code.first_line++;
    python_names_begin(&names);
    uint64_t next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, first);
    assert_int_equal(name_of(&reader, &names, &code)->value, next);
}

TEST(what_is_no_code_has_no_name)
{
    static struct python_names names;
    code.type = 1;
    assert_null(name_of(&reader, &names, &code));
}

static struct function function;

static void begin_functions(void)
{
    static char function_type;
    layout.types.function = address(&function_type);
    layout.frame_function = offsetof(struct frame, function);
    layout.function_code = offsetof(struct function, code);
    layout.function_version = offsetof(struct function, version);
    function = (struct function){&function_type, &code, 500};
}

/* By the first frame. */
static uint64_t value_of_frame(struct python_names *names)
{
    uint64_t at = address(&frame[0]);
    const struct python_frame its = python_frame_next(&reader, &at);
    python_names_begin(names);
    const struct python_name *name = python_name(&reader, names, &its);
    return name ? name->value : 0;
}

/* 3.11: then its code object is not read, and not compared. */
TEST(code_has_the_name_of_its_function)
{
    static struct python_names names;
    begin_3_11();
    begin_functions();
    frame[0].function = &function;
    uint64_t last = value_of_frame(&names);
    reads = 0;
    assert_int_equal(value_of_frame(&names), last);
    assert_int_equal(reads, 2); /* the frame, the version */
    code.first_line++;
    assert_int_equal(value_of_frame(&names), last);
    function.version = 501;
    uint64_t next = value_of_frame(&names);
    assert_int_not_equal(next, last);
    layout.function_version = 0;
}

/* While a function is new, or has got other code; or the object has the place of a function that is gone. */
TEST(a_function_may_say_nothing_of_its_frame)
{
    static struct python_names names;
    static struct code other_code;
    static struct function other_function;
    begin_3_11();
    for (int what = 0; what < 5; what++) {
        begin_functions();
        other_code = code;
        other_function = function;
        frame[0].function = &function;
        frame[0].code = &code;
        names = (struct python_names){0};
        switch (what) {
        case 0: function.version = 0; break;
        case 1: function.code = &other_code; break;
        case 2: function.type = NULL; break;
        }
        uint64_t last = value_of_frame(&names);
        switch (what) {
        case 3: frame[0].code = &other_code; break;
        case 4: frame[0].function = &other_function; break;
        }
        frame[0].code->first_line++;
        assert_int_not_equal(value_of_frame(&names), last);
    }
    layout.function_version = 0;
}

/* Two of these share a place. */
TEST(functions_with_the_same_version_and_code)
{
    static struct python_names names;
    static struct function many[(1 << PYTHON_NAME_BITS) + 1];
    begin_3_11();
    begin_functions();
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = function;
        frame[0].function = &many[i];
        code.first_line++;
        uint64_t value = value_of_frame(&names);
        assert_int_equal(value, names_given);
    }
    layout.function_version = 0;
}

/* All that is read of the first frame's name but what is known after another read. */
TEST(where_a_name_begins_to_read)
{
    static struct python_names names;
    uint64_t at = address(&frame[0]), addresses[PYTHON_NAME_READS];
    begin_3_11();
    begin_functions();
    frame[0].function = &function;
    const struct python_frame its = python_frame_next(&reader, &at);
    assert_int_equal(python_name_reads(&reader, &names, &its, addresses), 4);
    assert_int_equal(addresses[0], address(&function.version));
    assert_int_equal(addresses[1], address(&code));
    assert_int_equal(addresses[2], address(&code) + CODE_FROM);
    assert_int_equal(addresses[3], address(&code) + CODE_FROM + 8 * (CODE_WORDS - 1));
    value_of_frame(&names);
    assert_int_equal(python_name_reads(&reader, &names, &its, addresses), 1);
    layout.function_version = 0;
    at = address(&frame[0]);
    const struct python_frame of_other_version = python_frame_next(&reader, &at);
    names = (struct python_names){0};
    assert_int_equal(python_name_reads(&reader, &names, &of_other_version, addresses), 3);
}

TEST(code_objects_that_share_a_place)
{
    static struct python_names names;
    static struct code many[(1 << PYTHON_NAME_BITS) + 1];
    python_names_begin(&names);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = code;
        assert_int_equal(name_of(&reader, &names, &many[i])->code, address(&many[i]));
    }
}

/* From outside: a text's length lies next to its characters, or not. */
TEST(a_name_is_given_once_all_of_it_is_read)
{
    static struct python_names names;
    uint64_t given = names_given;
    struct agent_host outside = host;
    struct python_reader elsewhere = {&outside, &cursor, &layout};
    outside.is_elsewhere = true;
    outside.is_caught = is_caught;
    has_missed = true;
    assert_null(name_of(&elsewhere, &names, &code));
    assert_int_equal(names_given, given);
    has_missed = false;
    assert_non_null(name_of(&elsewhere, &names, &code));
}

EACH_TEST(begin, NULL);
