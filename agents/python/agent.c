/* The agent for CPython, as a program or as a library in another one.
 *
 * A stack, innermost frame first, and its bichords:
 *
 *     frames                                          bichord
 *     C code that Python calls                        native
 *     _PyEval_EvalFrameDefault                        1-1 or 1-M: the Python frames that this
 *                                                     activation executes (python-frames.h)
 *     other code of the interpreter                   native; hpcprof hides what is the machinery of
 *                                                     calls (rules `glue` of python.rules)
 *
 * The compiler may split the eval loop into parts, and only one of them has a symbol. So the agent
 * claims all code of the interpreter's module, and recognizes an activation by its variable on the stack.
 *
 * Threads are not the interpreter's: the agent marks none of them. */
#include "agents/agent.h"

#include "agents/common/loaded-modules.h"
#include "agents/common/published-copy.h"
#include "agents/python/python-locks.h"
#include "agents/python/python-names.h"
#include "agents/python/python-tasks.h"

#include <stdatomic.h>

static const struct agent_host *host;

/* The interpreter; NULL: there is none, or it is unloaded. A process may have others, whose paths are native. */
static _Atomic(const struct python_layout *) known_layout;
static struct code_range interpreter;

struct thread_data {
    uint64_t state; /* address of the thread state at the last sample; 0: unknown */
    struct python_names names;
    struct python_blocks blocks;               /* of this sample */
    bool is_named;                             /* the thread's name was looked for */
    uint64_t suspended[PYTHON_MOST_SUSPENDED]; /* frames of state.task */
};

/* cursor->state */
struct state {
    const struct python_layout *layout; /* NULL: there is no interpreter */
    bool has_begun;                     /* `next` is valid */
    struct python_activation next;      /* the innermost one that the walk has not passed */
    uint64_t frame;                     /* of the next l-note; 0: none */
    uint32_t misses;                    /* searches that found no activation */
    bool is_unknown; /* from outside: the next l-note stands for frames that were not read in time */

    /* Where the frames of an activation end with a coroutine of an asyncio task, those of the tasks follow
     * that wait for it. */
    uint64_t outermost; /* the last frame of Python code */
    bool is_generator;  /* that one */
    uint64_t task;      /* whose frames follow; 0: none */
    uint32_t suspended; /* number of its frames that are left */
    uint32_t tasks;     /* so far */
};

#define MOST_TASKS 256

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    return true;
}

/* -------- modules -------- */

/* By the module's own tables, which its image has, too, if the process is another one. */
static uint64_t export_of(const struct agent_module *module, const char *name, uint64_t *size)
{
    const ElfW(Ehdr) *header = (const void *)module->start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    const struct dl_phdr_info info = {
        .dlpi_addr = module->bias,
        .dlpi_phdr = (const void *)(module->start + header->e_phoff),
        .dlpi_phnum = header->e_phnum,
    };
    const ElfW(Sym) *symbol = dynamic_symbol(module_dynamic(&info), module->bias, name);
    if (symbol && size)
        *size = symbol->st_size;
    return symbol ? module->bias + symbol->st_value : 0;
}

static struct python_types types_of(const struct agent_module *module)
{
    return (struct python_types){.function = export_of(module, "PyFunction_Type", NULL),
                                 .method = export_of(module, "PyMethod_Type", NULL),
                                 .tuple = export_of(module, "PyTuple_Type", NULL),
                                 .list = export_of(module, "PyList_Type", NULL),
                                 .dict = export_of(module, "PyDict_Type", NULL),
                                 .generator = export_of(module, "PyGen_Type", NULL),
                                 .coroutine = export_of(module, "PyCoro_Type", NULL),
                                 .async_generator = export_of(module, "PyAsyncGen_Type", NULL)};
}

static struct python_reader reader_of(const struct agent_cursor *cursor)
{
    const struct state *state = cursor->state;
    return (struct python_reader){host, cursor, state->layout};
}

static bool has_byte(const struct agent_cursor *cursor, uint64_t lock)
{
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    return reader.layout && data->state && python_has_lock(&reader, data->state, lock, &data->blocks);
}

_Static_assert(AGENT_LONG_MS == 20, "as the name says");

static void share_lock(const struct python_layout *layout)
{
    static struct published_copy *copies;
    struct agent_lock lock;
    __builtin_memset(&lock, 0, sizeof lock);
    lock.condition = layout->gil_condition;
    lock.locked = layout->gil_locked;
    lock.holder = layout->gil_holder;
    lock.tid = layout->thread_tid;
    lock.turns = layout->gil_turns;
    lock.name = "<lock GIL>";
    lock.kept = "<lock GIL, kept for more than 20 ms>";
    lock.code_start = interpreter.start;
    lock.code_size = interpreter.end - interpreter.start;
    lock.semaphore_name = "<lock of Python>";
    lock.agent = &hpcrun_agent;
    lock.has_byte = has_byte;
    if (layout->minor > 12)
        lock.byte_name = layout->thread_sections ? "<lock of a Python object>" : lock.semaphore_name;
    const struct agent_lock *copy = published_copy(&copies, &lock, sizeof lock);
    if (copy)
        host->set_lock(&hpcrun_agent, copy);
}

static void learn(const struct agent_module *module)
{
    static struct published_copy *copies;
    struct python_layout layout = {0};
    struct python_exports exports = {.runtime = export_of(module, "_PyRuntime", NULL),
                                     .version = export_of(module, "Py_Version", NULL),
                                     .code_type = export_of(module, "PyCode_Type", NULL),
                                     .text_type = export_of(module, "PyUnicode_Type", NULL),
                                     .bound_method = export_of(module, "PyCFunction_Type", NULL),
                                     .types = types_of(module)};
    exports.eval_start = export_of(module, "_PyEval_EvalFrameDefault", &exports.eval_size);
    if (!exports.eval_start)
        return;
    if (!exports.version || !exports.runtime || !exports.code_type || !exports.text_type) {
        host->refuse(&hpcrun_agent, "the agent knows CPython from 3.11 on");
        return;
    }
    const char *why = python_layout_find(&exports, &layout);
    if (why) {
        host->refuse(&hpcrun_agent, why);
        return;
    }
    const struct python_layout *copy = published_copy(&copies, &layout, sizeof layout);
    const struct agent_claim code = {module->start, module->end, 0};
    if (!copy || !host->claim(&hpcrun_agent, &code, 1))
        return;
    interpreter = (struct code_range){module->start, module->end};
    atomic_store(&known_layout, copy);
    share_lock(copy);
}

static void module_added(const struct agent_module *module)
{
    struct pinned_module pinned;
    if (!host->is_elsewhere && !module_pin(module->start, module->path, &pinned))
        return;
    if (!atomic_load(&known_layout))
        learn(module);
    else if (export_of(module, "_PyEval_EvalFrameDefault", NULL))
        host->warn(&hpcrun_agent,
                   "the process has a second interpreter, whose call paths are native");
    if (!host->is_elsewhere)
        module_unpin(&pinned);
}

/* A sample has found that an interpreter has a lock of its own. */
static _Atomic bool has_other_lock;

static void thread_end(void *thread_data)
{
    static _Atomic bool is_reported; /* threads may end at once */
    (void)thread_data;
    if (atomic_load(&has_other_lock) && !atomic_exchange(&is_reported, true))
        host->warn(&hpcrun_agent,
                   "a sub-interpreter has a lock of its own: threads that wait for it are "
                   "`waiting`, without `lock wait` and `lock blame`");
}

static void module_removed(const struct agent_module *module)
{
    if (!atomic_load(&known_layout) || module->start != interpreter.start)
        return;
    atomic_store(&known_layout, NULL);
    host->set_lock(&hpcrun_agent, NULL);
}

/* -------- bichords -------- */

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    state->layout = atomic_load_explicit(&known_layout, memory_order_acquire);
    python_names_begin(&data->names);
    data->blocks.is_known = false;
    if (host->is_elsewhere)
        data->state = cursor->hint;
    return AGENT_FOREIGN;
}

static bool is_in(uint64_t address, uint64_t low, uint64_t high)
{
    return address >= low && address < high;
}

/* Parts of the eval loop that have no symbol, each from its begin to the last address at which a sample has
 * found an activation. */
static struct {
    _Atomic uint64_t start, last; /* 0: none yet */
} eval_parts[4];

#define EVAL_PARTS (sizeof eval_parts / sizeof *eval_parts)

static bool is_in_eval(const struct python_layout *layout, uint64_t pc)
{
    if (is_in(pc, layout->eval_start, layout->eval_end))
        return true;
    for (size_t i = 0; i < EVAL_PARTS; i++)
        if (pc >= atomic_load_explicit(&eval_parts[i].start, memory_order_relaxed) &&
            pc <= atomic_load_explicit(&eval_parts[i].last, memory_order_relaxed))
            return true;
    return false;
}

static void learn_part(const struct agent_cursor *cursor, uint64_t pc)
{
    uint64_t start = host->function(cursor, pc);
    for (size_t i = 0; i < EVAL_PARTS && start; i++) {
        uint64_t its = 0, last = atomic_load_explicit(&eval_parts[i].last, memory_order_relaxed);
        if (!atomic_compare_exchange_strong(&eval_parts[i].start, &its, start) && its != start)
            continue;
        while (last < pc && !atomic_compare_exchange_weak(&eval_parts[i].last, &last, pc))
            ;
        return;
    }
}

/* Whether a frame is the activation state->next, which may have to be found first. */
static bool find_activation(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    uint64_t end = host->frame_end(cursor, frame);
    bool is_eval = is_in_eval(state->layout, frame->pc);
    if (!state->has_begun && is_in(frame->sp, cursor->stack_low, cursor->stack_high)) {
        uint64_t known = data->state;
        state->next = python_newest(&reader, &data->state);
        state->has_begun = true;
        if (!host->is_elsewhere && data->state != known && python_has_other_lock(&reader, data->state))
            atomic_store(&has_other_lock, true);
    }
    if (is_eval && !host->is_elsewhere && !is_in(state->next.mark, frame->sp, end)) {
        const struct python_activation found =
            python_activation_in(&reader, frame->sp, end, &state->misses);
        state->next = found.mark ? found : state->next;
    }
    bool is_activation = is_in(state->next.mark, frame->sp, end);
    if (is_activation && !is_eval)
        learn_part(cursor, frame->pc);
    return is_activation;
}

/* Begins with the frames of the activation state->next, and moves that to the one around. False: there are none. */
static bool begin_activation(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    const struct python_reader reader = reader_of(cursor);
    bool has_frames = !python_frame_is_end(&reader, state->next.newest);
    state->frame = has_frames ? state->next.newest : 0;
    state->outermost = state->task = 0;
    state->suspended = state->tasks = 0;
    state->is_generator = false;
    state->next = python_activation_around(&reader, &state->next);
    return has_frames;
}

static bool is_missed(const struct agent_cursor *cursor)
{
    return host->is_elsewhere && !host->is_caught(cursor);
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    state->frame = 0;
    if (!state->layout)
        return AGENT_NATIVE;
    bool has_frames = !is_missed(cursor) && find_activation(cursor, frame) && begin_activation(cursor);
    if (is_missed(cursor)) {
        state->frame = 0;
        has_frames = state->is_unknown = is_in(frame->pc, state->layout->eval_start, state->layout->eval_end);
    }
    cursor->is_innermost = true;
    return has_frames ? AGENT_1_M : AGENT_NATIVE;
}

/* The frame outside of the last one of an activation or of a suspended coroutine; 0: there is none. */
static uint64_t waiting_frame(const struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    if (!host->is_elsewhere && !state->tasks && state->is_generator)
        state->task = python_task(&reader, data->state, state->outermost);
    while (!state->suspended && state->task && state->tasks++ < MOST_TASKS) {
        state->task = python_waiting_task(&reader, state->task);
        state->suspended =
            state->task ? python_suspended(&reader, state->task, data->suspended) : 0;
    }
    return state->suspended ? data->suspended[--state->suspended] : 0;
}

/* A thread of `threading` begins with a method of its object. */
static void name_thread(const struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    if (data->is_named || !state->outermost)
        return;
    data->is_named = true;
    uint64_t thread = python_first_argument(&reader, state->outermost, "Thread._bootstrap");
    uint64_t name = thread ? python_attribute(&reader, thread, "_name") : 0;
    const struct agent_text text = name ? python_text(&reader, name) : (struct agent_text){0};
    if (text.length)
        host->name_thread(cursor, &text);
}

/* Reads state->frame, and moves that to the frame outside of it. */
static struct python_frame next_frame(const struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    const struct python_reader reader = reader_of(cursor);
    uint64_t at = state->frame;
    struct python_frame frame = python_frame_next(&reader, &state->frame);
    if (frame.code) {
        state->outermost = at;
        state->is_generator = frame.is_generator;
    }
    if (frame.is_last && !state->next.mark)
        name_thread(cursor);
    if (frame.is_last || state->tasks)
        state->frame = waiting_frame(cursor);
    return frame;
}

/* An l-note for frames that were not read in time, once. */
static bool step_unknown(struct agent_cursor *cursor, struct agent_lnote *note)
{
    static const char text[] = "<Python frames not read in time>";
    struct state *state = cursor->state;
    const struct agent_name name = {.key = {1},
                                    .procedure = {(uint64_t)text, sizeof text - 1, 1},
                                    .file = {(uint64_t)text, 0, 1},
                                    .is_own = true};
    if (!state->is_unknown)
        return false;
    state->is_unknown = false;
    *note = (struct agent_lnote){AGENT_NAMES, .value = host->name(cursor, &name)};
    return note->value != 0;
}

/* Frames that have not begun are not shown: their call's line is that of the caller. Nor is importlib. */
static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    while (state->frame) {
        struct python_frame frame = next_frame(cursor);
        const struct python_name *name =
            frame.code ? python_name(&reader, &data->names, &frame) : NULL;
        if (is_missed(cursor)) {
            state->frame = 0;
            state->is_unknown = true;
            break;
        }
        if (!name || name->is_hidden ||
            (!frame.is_generator && frame.position < name->first_traceable))
            continue;
        uint64_t position = frame.position >= 0 ? (uint64_t)frame.position : 0;
        *note = (struct agent_lnote){AGENT_NAMES, .value = name->value, .site = position + 1};
        return true;
    }
    return step_unknown(cursor, note);
}

/* -------- from outside -------- */

static size_t share(void *to, size_t room)
{
    const struct python_layout *layout = atomic_load(&known_layout);
    if (!layout || sizeof *layout > room)
        return 0;
    __builtin_memcpy(to, layout, sizeof *layout);
    return sizeof *layout;
}

#define MOST_EXPECTED 256

/* Each frame has the address of the next one, so that frames are read one by one; but not their code. */
static void expect_names(const struct agent_cursor *cursor)
{
    const struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    const struct python_reader reader = reader_of(cursor);
    uint64_t addresses[MOST_EXPECTED], at = state->next.newest;
    unsigned n = 0;
    while (at && n + PYTHON_NAME_READS <= MOST_EXPECTED && host->is_caught(cursor)) {
        const struct python_frame frame = python_frame_next(&reader, &at);
        if (frame.code)
            n += python_name_reads(&reader, &data->names, &frame, addresses + n);
    }
    host->expect(cursor, addresses, n);
}

/* Asks for all frames of all activations, as an unwind does. */
static void read_ahead(struct agent_cursor *cursor, const void *shared)
{
    struct state *state = cursor->state;
    struct thread_data *data = cursor->thread_data;
    struct agent_lnote note;
    state->layout = shared;
    python_names_begin(&data->names);
    const struct python_reader reader = reader_of(cursor);
    state->next = python_newest(&reader, &data->state);
    if (state->next.mark)
        expect_names(cursor);
    state->next = python_newest(&reader, &data->state);
    cursor->hint = data->state;
    while (state->next.mark && host->is_caught(cursor)) {
        begin_activation(cursor);
        while (step_lnote(cursor, &note))
            continue;
    }
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "python",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct thread_data),
    .state_bytes = sizeof(struct state),
    .marks_threads = true,
    .has_plain_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .thread_end = thread_end,
    .unwind_begin = unwind_begin,
    .step_bichord = step_bichord,
    .step_lnote = step_lnote,
    .share = share,
    .read_ahead = read_ahead,
};
