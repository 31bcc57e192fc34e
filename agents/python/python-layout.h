/* Where CPython keeps what the agent reads: offsets in its structures, for one loaded interpreter.
 *
 *     version  offsets from
 *     3.11     a table, checked against the sizes that the types of code and strings have
 *     3.12     the same
 *     3.13 on  _Py_DebugOffsets, at the begin of _PyRuntime, and what these versions have alike
 *
 * A free-threaded build has longer headers of objects, and a lock that threads only use if the program asks for
 * it. Its threads execute copies of the code from 3.14 on, each its own.
 *
 * An interpreter is found by the symbols that it exports, whatever the file is called. */
#ifndef AGENTS_PYTHON_LAYOUT_H
#define AGENTS_PYTHON_LAYOUT_H

#include "agents/agent.h"

#include <stdbool.h>
#include <stdint.h>

/* The parts of structures that are read at once, in 64-bit words. */
enum { FRAME_WORDS = 11, CODE_FROM = 64, CODE_WORDS = 10, BYTES_WORDS = 3 };

/* Addresses of types, by which what an asyncio task refers to is recognized; 0: it is not. */
struct python_types {
    uint64_t function, method, tuple, list, dict, generator, coroutine, async_generator;
};

struct python_layout {
    uint32_t minor;                /* 11 for 3.11 */
    uint64_t runtime;              /* address of _PyRuntime */
    uint64_t code_type;            /* address of PyCode_Type */
    uint64_t bound_method;         /* address of PyCFunction_Type */
    uint64_t eval_start, eval_end; /* _PyEval_EvalFrameDefault; a part of it may lie elsewhere */
    uint64_t gil_holder, gil_locked, gil_turns, gil_condition; /* addresses */
    uint32_t thread_tid;                                       /* in a thread state */
    uint32_t interpreters;                          /* in _PyRuntime: the first interpreter */
    uint32_t interpreter_next, interpreter_threads; /* in an interpreter: its first thread state */
    uint32_t thread_next, thread_id;                /* in a thread state */
    uint32_t thread_interpreter, interpreter_modules;
    uint32_t interpreter_lock; /* the address of a lock's state */
    uint32_t
        gil_in_state; /* in that state: what gil_holder is the address of; 0: there is one lock for all */
    uint32_t thread_frame; /* its newest frame, 3.13 on; its newest _PyCFrame, before */
    uint32_t thread_sections; /* critical_section, in builds without a GIL; 0: it has none */
    uint32_t thread_task;  /* the task of asyncio that it executes; 0: it has no such field */
    uint32_t cframe_frame, cframe_previous; /* in a _PyCFrame */
    uint32_t frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
    uint32_t frame_function; /* the function that was called */
    uint32_t function_code;
    uint32_t function_version; /* a number that no other function has with other code, or 0; 0: it has no such field */
    uint32_t
        frame_copy; /* number of the copy of the code that it executes; 0: there are no copies */
    uint32_t frame_stack_top, frame_locals; /* the number of words from the second on, and these */
    uint32_t
        frame_stack_pointer; /* instead of the number: the address of their end; 0: it has none */
    uint32_t object_type;
    uint32_t object_more; /* size of an object's header less that of a build with a GIL */
    uint32_t code_first_line, code_file, code_name, code_lines, code_first_traceable, code_start;
    uint32_t code_version; /* a number that no other code object of the interpreter has; 0: it has no such field */
    uint32_t code_copies; /* address of a number, and the addresses of as many copies of the code */
    uint32_t text_length, text_hash, text_state, text_ascii,
        text_compact;       /* the last two: the data */
    uint32_t text_kind_bit; /* in the state: the lowest bit after `interned` */
    uint32_t bytes_size, bytes_start;
    uint32_t generator_frame; /* in a generator or coroutine: its frame */
    uint32_t task_coroutine;  /* in a task of asyncio */
    uint32_t type_keys;       /* in a class: names of attributes of its instances */
    uint32_t values_start;    /* in an array of the values of these */
    struct python_types types;
};

/* What an interpreter's module exports; 0: it does not. */
struct python_exports {
    uint64_t runtime, version, code_type, text_type, bound_method, eval_start, eval_size;
    struct python_types types;
};

/* Normal context, while the module is pinned. Why the agent cannot serve it, or NULL. */
const char *python_layout_find(const struct python_exports *exports, struct python_layout *layout);

#endif
