/* Handler. */
#include "agents/python/python-tasks.h"

#include <stdatomic.h>

#define READ(address) python_word(r, (address))

/* In structures of all versions that the agent knows, of builds with a GIL. */
enum {
    TYPE_BASE = 256,
    CELL_CONTENT = 16,
    FUNCTION_CLOSURE = 72,
    MODULE_DICT = 16,
    METHOD_OBJECT = 24, /* of a built-in method, or one that is written in Python */
    PARTIAL_ARGUMENTS = 24,
    FUTURE_CALLBACK = 24,  /* the first one of a future or task */
    FUTURE_CALLBACKS = 40, /* the others */
    FUTURE_WAITER = 96,    /* 3.14: what waits for it, or a set of such */
    FUTURE_STATE = 104,
    SET_MASK = 32,
    SET_TABLE = 40,
    LIST_SIZE = 16,
    LIST_ITEMS = 24,
    AWAITED_COROUTINE = 16, /* of what stands for a coroutine while that is awaited */
};

/* In the word at FUTURE_STATE, a byte: the waiters are a set. */
#define WAITER_IS_SET ((uint64_t)0xff << 40)

#define MOST_LOOPS   256
#define MOST_WAITERS 64

/* A callback may lead to a future with a callback, as of gather in gather. */
#define MOST_FUTURES 8
#define MOST_ITEMS   8 /* of callbacks, variables, arguments */

/* ---- from a coroutine to its task ---- */

/* The dict of the loops' current tasks; 0: asyncio is not imported. The modules are searched again when there
 * are others. */
static uint64_t current_tasks(const struct python_reader *r, uint64_t thread)
{
    static _Atomic uint64_t known, count_of_modules;
    uint64_t dict = atomic_load_explicit(&known, memory_order_relaxed);
    if (python_type(r, dict) == r->layout->types.dict)
        return dict;
    uint64_t interpreter = READ(thread + r->layout->thread_interpreter);
    const struct python_items modules =
        python_items(r, READ(interpreter + r->layout->interpreter_modules));
    if (modules.count == atomic_exchange(&count_of_modules, modules.count))
        return 0;
    uint64_t module = python_value_of(r, &modules, "asyncio.tasks");
    const struct python_items names =
        python_items(r, module ? python_field(r, module, MODULE_DICT) : 0);
    dict = python_value_of(r, &names, "_current_tasks");
    atomic_store(&known, dict);
    return dict;
}

static bool executes(const struct python_reader *r, uint64_t task, uint64_t coroutine)
{
    return task && READ(task + r->layout->task_coroutine) == coroutine;
}

uint64_t python_task(const struct python_reader *r, uint64_t thread, uint64_t frame)
{
    uint64_t coroutine = frame - r->layout->generator_frame, dict;
    if (python_type(r, coroutine) != r->layout->types.coroutine)
        return 0;
    if (r->layout->thread_task) {
        uint64_t task = READ(thread + r->layout->thread_task);
        return executes(r, task, coroutine) ? task : 0;
    }
    if (!(dict = current_tasks(r, thread)))
        return 0;
    const struct python_items items = python_items(r, dict);
    for (uint64_t i = 0; i < items.count && i < MOST_LOOPS; i++) {
        uint64_t task = python_value(r, &items, i);
        if (executes(r, task, coroutine))
            return task;
    }
    return 0;
}

/* ---- from a task to the one that waits for it ---- */

/* Callback i of a future or task; 0: it has fewer. All but the first are in a list, with a context each. */
static uint64_t callback_of(const struct python_reader *r, uint64_t future, uint32_t i)
{
    uint64_t list = i ? python_field(r, future, FUTURE_CALLBACKS) : 0;
    if (i == 0)
        return python_field(r, future, FUTURE_CALLBACK);
    if (python_type(r, list) != r->layout->types.list || i > python_field(r, list, LIST_SIZE))
        return 0;
    return python_item(r, READ(python_field(r, list, LIST_ITEMS) + 8 * (uint64_t)(i - 1)), 0);
}

/* Whether it is a future, of the class that tasks extend or another one that extends it, but no task. */
static bool is_future(const struct python_reader *r, uint64_t object, uint64_t task_type)
{
    uint64_t type = python_type(r, object), future_type = python_field(r, task_type, TYPE_BASE);
    return type && type != task_type &&
           (type == future_type || python_field(r, type, TYPE_BASE) == future_type);
}

/* The first future among the variables of a function, or the arguments of a partial; 0: there is none. */
static uint64_t future_of(const struct python_reader *r, uint64_t callback, uint64_t task_type)
{
    bool is_function = python_type(r, callback) == r->layout->types.function;
    uint64_t tuple = python_field(r, callback, is_function ? FUNCTION_CLOSURE : PARTIAL_ARGUMENTS);
    if (python_type(r, tuple) != r->layout->types.tuple)
        return 0;
    for (uint32_t i = 0; i < MOST_ITEMS; i++) {
        uint64_t object = python_item(r, tuple, i);
        if (object && is_function)
            object = python_field(r, object, CELL_CONTENT);
        if (is_future(r, object, task_type))
            return object;
    }
    return 0;
}

/* The task whose method, or whose group's method, a callback is; 0: none. */
static uint64_t task_of(const struct python_reader *r, uint64_t callback, uint64_t task_type)
{
    uint64_t object = python_field(r, callback, METHOD_OBJECT);
    if (python_type(r, callback) == r->layout->types.method)
        object = python_attribute(r, object, "_parent_task");
    return python_type(r, object) == task_type ? object : 0;
}

/* What waits for a future; of several, the first task. */
static uint64_t waiter_of(const struct python_reader *r, uint64_t future, uint64_t task_type)
{
    uint64_t waiter = python_field(r, future, FUTURE_WAITER);
    if (!waiter || !(python_field(r, future, FUTURE_STATE) & WAITER_IS_SET))
        return waiter;
    uint64_t table = python_field(r, waiter, SET_TABLE), last = python_field(r, waiter, SET_MASK);
    for (uint64_t i = 0; i <= last && i < MOST_WAITERS; i++) {
        uint64_t object = READ(table + 16 * i); /* a hash follows */
        if (python_type(r, object) == task_type)
            return object;
    }
    return 0;
}

/* From 3.14 on, futures say what waits for them. */
static uint64_t recorded_waiting_task(const struct python_reader *r, uint64_t task)
{
    uint64_t type = python_type(r, task), waiter = task;
    for (int depth = 0; depth < MOST_FUTURES && waiter; depth++) {
        waiter = waiter_of(r, waiter, type);
        if (python_type(r, waiter) == type)
            return waiter;
    }
    return 0;
}

uint64_t python_waiting_task(const struct python_reader *r, uint64_t task)
{
    uint64_t type = python_type(r, task), future = task, callback, found;
    if (r->layout->thread_task)
        return recorded_waiting_task(r, task);
    for (int depth = 0; depth < MOST_FUTURES && future; depth++) {
        uint64_t next = 0;
        for (uint32_t i = 0; i < MOST_ITEMS && (callback = callback_of(r, future, i)); i++) {
            if ((found = task_of(r, callback, type)))
                return found;
            if (!next)
                next = future_of(r, callback, type);
        }
        future = next;
    }
    return 0;
}

/* ---- the frames of a task ---- */

static bool is_coroutine(const struct python_reader *r, uint64_t object)
{
    uint64_t type = python_type(r, object);
    return type == r->layout->types.coroutine || type == r->layout->types.generator ||
           type == r->layout->types.async_generator;
}

/* The address after the last word of a suspended frame's stack. */
static uint64_t stack_end(const struct python_reader *r, uint64_t frame)
{
    const struct python_layout *at = r->layout;
    if (at->frame_stack_pointer)
        return READ(frame + at->frame_stack_pointer);
    uint32_t words = agent_u32(r->host, r->cursor, frame + at->frame_stack_top);
    return frame + at->frame_locals + 8 * (uint64_t)words;
}

/* What a suspended frame awaits, or yields from: the top of its stack; 0: nothing. */
static uint64_t awaited(const struct python_reader *r, uint64_t frame)
{
    uint64_t end = stack_end(r, frame);
    bool is_empty = end <= frame + r->layout->frame_locals;
    uint64_t object = is_empty ? 0 : READ(end - 8) & ~PYTHON_TAGS;
    uint64_t wrapped =
        object && !is_coroutine(r, object) ? python_field(r, object, AWAITED_COROUTINE) : 0;
    return wrapped ? wrapped : object;
}

uint32_t python_suspended(const struct python_reader *r, uint64_t task, uint64_t *frames)
{
    uint64_t coroutine = READ(task + r->layout->task_coroutine);
    uint32_t count = 0;
    while (count < PYTHON_MOST_SUSPENDED && coroutine && is_coroutine(r, coroutine)) {
        frames[count] = coroutine + r->layout->generator_frame;
        coroutine = awaited(r, frames[count++]);
    }
    return count;
}
