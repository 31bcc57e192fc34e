#include "agents/python/python-layout.h"

#include <string.h>

static const struct python_layout v311 = {
    .minor = 11,
    .gil_holder = 368,
    .gil_locked = 376,
    .thread_tid = 160,
    .interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 16,
    .thread_interpreter = 16,
    .interpreter_modules = 888,
    .thread_next = 8,
    .thread_id = 152,
    .thread_frame = 56,
    .cframe_frame = 8,
    .cframe_previous = 16,
    .frame_code = 32,
    .frame_function = 0,
    .function_code = 48,
    .function_version = 128,
    .frame_previous = 48,
    .frame_instruction = 56,
    .frame_is_entry = 68,
    .frame_owner = 69,
    .object_type = 8,
    .code_first_line = 72,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_first_traceable = 168,
    .code_start = 184,
    .text_length = 16,
    .text_hash = 24,
    .text_state = 32,
    .text_kind_bit = 2,
    .text_ascii = 48,
    .text_compact = 72,
    .bytes_size = 16,
    .bytes_start = 32,
    .frame_stack_top = 64,
    .frame_locals = 72,
    .generator_frame = 80,
    .task_coroutine = 136,
    .type_keys = 872,
};

/* The main interpreter is a part of _PyRuntime. */
#define MAIN_INTERPRETER_312 76392

static const struct python_layout v312 = {
    .minor = 12,
    .gil_holder = MAIN_INTERPRETER_312 + 1048,
    .gil_locked = MAIN_INTERPRETER_312 + 1056,
    .thread_tid = 144,
    .interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 72,
    .interpreter_modules = 944,
    .interpreter_lock = 384,
    .thread_interpreter = 16,
    .gil_in_state = 8,
    .thread_next = 8,
    .thread_id = 136,
    .thread_frame = 56,
    .cframe_frame = 0,
    .cframe_previous = 8,
    .frame_code = 0,
    .frame_previous = 8,
    .frame_instruction = 56,
    .frame_owner = 70,
    .object_type = 8,
    .code_first_line = 68,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_first_traceable = 176,
    .code_version = 92,
    .code_start = 192,
    .text_length = 16,
    .text_hash = 24,
    .text_state = 32,
    .text_kind_bit = 2,
    .text_ascii = 40,
    .text_compact = 56,
    .bytes_size = 16,
    .bytes_start = 32,
    .frame_stack_top = 64,
    .frame_locals = 72,
    .generator_frame = 72,
    .task_coroutine = 136,
    .type_keys = 880,
};

/* What _Py_DebugOffsets says. */
enum {
    RUNTIME_SIZE,
    INTERPRETERS_HEAD,
    INTERPRETER_SIZE,
    INTERPRETER_NEXT,
    THREADS_HEAD,
    MODULES,
    INTERPRETER_LOCK,
    GIL,
    GIL_LOCKED,
    GIL_HOLDER,
    THREAD_SIZE,
    THREAD_NEXT,
    THREAD_INTERPRETER,
    CURRENT_FRAME,
    THREAD_ID,
    THREAD_TID,
    FRAME_PREVIOUS,
    FRAME_EXECUTABLE,
    FRAME_INSTRUCTION,
    FRAME_LOCALS,
    FRAME_OWNER,
    FRAME_STACK_POINTER,
    FRAME_COPY,
    CODE_FILE,
    CODE_NAME,
    CODE_LINES,
    CODE_FIRST_LINE,
    CODE_START,
    CODE_COPIES,
    OBJECT_TYPE,
    BYTES_SIZE,
    BYTES_START,
    TEXT_STATE,
    TEXT_LENGTH,
    TEXT_ASCII,
    GENERATOR_FRAME,
    FIELDS
};

/* The index of its 64-bit word in 3.13 and in 3.14; 0: that version does not say it. */
static const uint8_t debug_words[FIELDS][2] = {
    [RUNTIME_SIZE] = {3, 3},         [INTERPRETERS_HEAD] = {5, 5},
    [INTERPRETER_SIZE] = {6, 6},     [INTERPRETER_NEXT] = {8, 8},
    [THREADS_HEAD] = {9, 9},         [MODULES] = {11, 12},
    [INTERPRETER_LOCK] = {14, 15},   [GIL] = {15, 16},
    [GIL_LOCKED] = {17, 18},         [GIL_HOLDER] = {18, 19},
    [THREAD_SIZE] = {19, 22},        [THREAD_NEXT] = {21, 24},
    [THREAD_INTERPRETER] = {22, 25}, [CURRENT_FRAME] = {23, 26},
    [THREAD_ID] = {24, 27},          [THREAD_TID] = {25, 28},
    [FRAME_PREVIOUS] = {29, 32},     [FRAME_EXECUTABLE] = {30, 33},
    [FRAME_INSTRUCTION] = {31, 34},  [FRAME_LOCALS] = {32, 35},
    [FRAME_OWNER] = {33, 36},        [FRAME_STACK_POINTER] = {0, 37},
    [FRAME_COPY] = {0, 38},          [CODE_FILE] = {35, 40},
    [CODE_NAME] = {37, 42},          [CODE_LINES] = {38, 43},
    [CODE_FIRST_LINE] = {39, 44},    [CODE_START] = {43, 48},
    [CODE_COPIES] = {0, 49},         [OBJECT_TYPE] = {45, 51},
    [BYTES_SIZE] = {65, 75},         [BYTES_START] = {66, 76},
    [TEXT_STATE] = {68, 78},         [TEXT_LENGTH] = {69, 79},
    [TEXT_ASCII] = {70, 80},         [GENERATOR_FRAME] = {0, 85},
};

/* What it does not say, in structures of 3.13 and 3.14. */
enum {
    TYPE_IN_OBJECT = 8, /* in builds with a GIL; others have a longer header */
    COMPACT_MORE = 16,  /* a string that is no ASCII has its UTF-8 form and that one's length
                                    before the data */
    VERSION_BEFORE = 20, /* co_version and two pointers are before co_filename */
    FIRST_TRACEABLE_BEFORE = 16, /* _co_firsttraceable and a pointer are before the code */
    GENERATOR_FRAME_313 = 72,
    SECTIONS_AFTER_TID = 16, /* critical_section, in builds without a GIL */
    TASK_AFTER_THREAD =
        40, /* asyncio_running_task, after the PyThreadState in its larger structure */
};

static bool read_debug_offsets(uint64_t runtime, uint32_t minor, struct python_layout *layout)
{
    const uint64_t *words = (const void *)runtime;
    if (memcmp(words, "xdebugpy", 8) != 0)
        return false;
    uint32_t at[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        unsigned index = debug_words[i][minor - 13];
        at[i] = index ? (uint32_t)words[index] : 0;
    }
    uint64_t main = at[RUNTIME_SIZE] - at[INTERPRETER_SIZE]; /* the last part of _PyRuntime */
    uint32_t more = at[OBJECT_TYPE] - TYPE_IN_OBJECT;
    *layout = (struct python_layout){
        .minor = minor,
        .gil_holder = main + at[GIL_HOLDER],
        .gil_locked = main + at[GIL_LOCKED],
        .thread_tid = at[THREAD_TID],
        .interpreters = at[INTERPRETERS_HEAD],
        .interpreter_next = at[INTERPRETER_NEXT],
        .interpreter_threads = at[THREADS_HEAD],
        .interpreter_modules = at[MODULES],
        .interpreter_lock = at[INTERPRETER_LOCK],
        .thread_interpreter = at[THREAD_INTERPRETER],
        .gil_in_state = at[GIL_HOLDER] - at[GIL],
        .thread_next = at[THREAD_NEXT],
        .thread_id = at[THREAD_ID],
        .thread_frame = at[CURRENT_FRAME],
        .thread_sections = more ? at[THREAD_TID] + SECTIONS_AFTER_TID : 0,
        .thread_task = minor > 13 ? at[THREAD_SIZE] + TASK_AFTER_THREAD : 0,
        .frame_code = at[FRAME_EXECUTABLE],
        .frame_previous = at[FRAME_PREVIOUS],
        .frame_instruction = at[FRAME_INSTRUCTION],
        .frame_owner = at[FRAME_OWNER],
        .frame_copy = at[FRAME_COPY],
        .object_type = at[OBJECT_TYPE],
        .object_more = more,
        .code_first_line = at[CODE_FIRST_LINE],
        .code_file = at[CODE_FILE],
        .code_name = at[CODE_NAME],
        .code_lines = at[CODE_LINES],
        .code_first_traceable =
            (at[CODE_COPIES] ? at[CODE_COPIES] : at[CODE_START]) - FIRST_TRACEABLE_BEFORE,
        .code_version = at[CODE_FILE] - VERSION_BEFORE,
        .code_start = at[CODE_START],
        .code_copies = at[CODE_COPIES],
        .text_length = at[TEXT_LENGTH],
        .text_hash = at[TEXT_LENGTH] + 8,
        .text_state = at[TEXT_STATE],
        .text_kind_bit = more && minor > 13 ? 8 : 2,
        .text_ascii = at[TEXT_ASCII],
        .text_compact = at[TEXT_ASCII] + COMPACT_MORE,
        .bytes_size = at[BYTES_SIZE],
        .bytes_start = at[BYTES_START],
        .frame_stack_pointer = at[FRAME_STACK_POINTER],
        .frame_stack_top = at[FRAME_LOCALS] - 8,
        .frame_locals = at[FRAME_LOCALS],
        .generator_frame = at[GENERATOR_FRAME] ? at[GENERATOR_FRAME] : GENERATOR_FRAME_313 + more,
        .task_coroutine = (minor > 13 ? 128 : 120) + more,
        .type_keys = 880 + more,
        .values_start = 8,
    };
    return true;
}

/* tp_basicsize follows the object's header, its ob_size and tp_name. */
#define SIZE_AFTER_TYPE 24

static uint64_t instance_size(uint64_t type, const struct python_layout *layout)
{
    uint64_t size;
    memcpy(&size, (const char *)type + layout->object_type + SIZE_AFTER_TYPE, sizeof size);
    return size;
}

/* Whether instances of code and str have the sizes of this layout: not in builds that trace references,
 * for one. A str has a pointer more than the compact form. */
static bool fits(const struct python_layout *layout, const struct python_exports *exports)
{
    uint32_t frame_end = layout->frame_code + 8, code_from = CODE_FROM + layout->object_more;
    const uint32_t in_frame[] = {layout->frame_previous, layout->frame_instruction,
                                 layout->frame_owner, layout->frame_is_entry};
    const uint32_t in_code[] = {layout->code_first_line, layout->code_file, layout->code_name,
                                layout->code_lines};
    if (layout->code_version && layout->code_version < code_from)
        return false;
    for (int i = 0; i < 4; i++) {
        frame_end = in_frame[i] + 8 > frame_end ? in_frame[i] + 8 : frame_end;
        if (in_code[i] < code_from || in_code[i] + 8 > code_from + CODE_WORDS * 8)
            return false;
    }
    return frame_end <= FRAME_WORDS * 8 &&
           layout->bytes_start == layout->bytes_size + 8 * (BYTES_WORDS - 1) &&
           instance_size(exports->code_type, layout) == layout->code_start &&
           instance_size(exports->text_type, layout) == layout->text_compact + 8u;
}

#define OTHER_STRUCTURES "this build of CPython has other structures than the agent knows"

/* `locked` and the number of turns come before the condition variable. */
#define TURNS_AFTER_HOLDER     16
#define CONDITION_AFTER_HOLDER 24

/* Takes the layout of a version, 0x30b for 3.11; why there is none, or NULL. */
static const char *take_layout(uint64_t version, uint64_t runtime, struct python_layout *layout)
{
    switch (version) {
    case 0x30b: *layout = v311; return NULL;
    case 0x30c: *layout = v312; return NULL;
    case 0x30d:
    case 0x30e:
        return read_debug_offsets(runtime, version & 0xff, layout) ? NULL : OTHER_STRUCTURES;
    default:
        return version > 0x30e ? "the agent knows CPython up to 3.14"
                               : "the agent knows CPython from 3.11 on";
    }
}

const char *python_layout_find(const struct python_exports *exports, struct python_layout *layout)
{
    uint64_t version = *(const uint64_t *)exports->version >> 16 & 0xffff;
    const char *why = take_layout(version, exports->runtime, layout);
    if (why)
        return why;
    if (!fits(layout, exports))
        return OTHER_STRUCTURES;
    layout->runtime = exports->runtime;
    layout->code_type = exports->code_type;
    layout->bound_method = exports->bound_method;
    layout->types = exports->types;
    if (!exports->types.function || instance_size(exports->types.function, layout) != layout->function_version + 8u)
        layout->function_version = 0;
    layout->eval_start = exports->eval_start;
    layout->eval_end = exports->eval_start + exports->eval_size;
    layout->gil_holder += exports->runtime;
    layout->gil_locked += exports->runtime;
    layout->gil_turns = layout->gil_holder + TURNS_AFTER_HOLDER;
    layout->gil_condition = layout->gil_holder + CONDITION_AFTER_HOLDER;
    return NULL;
}
