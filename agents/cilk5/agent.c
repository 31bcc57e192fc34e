/* The agent for Cilk-5.4.6, as its authors left it and with our patch (runtime-patches/cilk5), as a
 * shared library or linked into a program that is not stripped.
 *
 * A worker's stack, innermost frame first:
 *
 *     frames                                       bichord
 *     C functions, fast clones, the slow clone     native code
 *       that the scheduler called
 *     Cilk_scheduler                               1-M: the ancestors of the slow clone's closure,
 *                                                  from the heap; their spawn sites are known only
 *                                                  if the runtime is patched. Then the path of the
 *                                                  thread that has called the computation
 *                                                  (cilk5-caller.h)
 *     Cilk_child_main ... the thread's start       M-0
 *     other functions of the runtime, the root,    1-0, or M-0 with the functions of libc that
 *       the import of its procedure                they call
 *
 * The thread that starts the computation, usually the initial one, waits in the runtime until the
 * workers end. Meanwhile it is AGENT_RUNTIME_OWNED.
 *
 * Assumptions. A worker's thread is created with the address of {context, id}, which lives as long
 * as the thread; the context lives as long as its workers. From there the agent finds the worker's
 * deque. The deque's bottom is the closure that the worker runs, and points to the worker:
 *
 *     status      from                             until
 *     RUNNING     before the slow clone is called  the procedure gives its result
 *     RETURNING   then                             the scheduler removes the closure
 *
 * A closure that waits for its children is removed, too. In both states its chain of parents does
 * not change.
 *
 * Windows.
 *   - A thief may promote this worker's innermost unstolen frame at any instant. It first makes the
 *     new closure the bottom, then changes the old one. So what was read of a closure is valid if
 *     the closure is still the bottom afterwards.
 *   - While RETURNING, the closure's frame is cleared or freed, and the stack unwinds through
 *     procedures that were stolen. They are the closure's ancestors, so the path is right.
 *   - Before the slow clone is called and after it has returned, the worker counts as idle. */
#include "agents/agent.h"

#include "agents/cilk5/cilk5-caller.h"
#include "agents/cilk5/cilk5-runtime.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct agent_host *host;

/* The context of the latest computation; 0 after its workers ended. For threads that are no
 * workers. */
static _Atomic uint64_t newest_context;

struct thread_data {
    uint64_t context;        /* address of the worker's Cilk context; 0: not a worker */
    uint32_t self;           /* the worker's number */
    bool has_unknown_layout; /* the runtime's structures were not as expected */
};

/* cursor->state */
struct state {
    bool is_working;  /* the thread is a worker that executes user code */
    bool is_below;    /* the walk is past Cilk_scheduler */
    uint64_t closure; /* of the next l-note */
    uint64_t site;    /* where this closure spawned the previous one; 0: unknown */
    uint64_t native;  /* pc of a native frame, the next l-note; 0: none */
    struct agent_frame
        caller; /* next l-note in the thread that has called the computation; pc 0: none */
};

/* -------- modules -------- */

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    runtime_start(agent_host);
    return true;
}

static void module_added(const struct agent_module *module)
{
    size_t count;
    runtime_look(module);
    struct agent_claim *imports = imports_find(module, &count);
    if (imports)
        host->claim(&hpcrun_agent, imports, count);
    free(imports);
}

static bool is_claimed_as(uint32_t tag, uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim) && claim.tag == tag;
}

static bool is_in_runtime(uint64_t pc)
{
    return is_claimed_as(RUNTIME, pc);
}

/* -------- threads -------- */

static void thread_begin(void *memory, int tid, struct agent_start_routine routine)
{
    (void)tid;
    struct thread_data *data = memory;
    *data = (struct thread_data){0};
    if (!runtime()->is_known || routine.function != runtime()->child_main.begin)
        return;
    const char *parameters = (const char *)routine.argument;
    memcpy(&data->context, parameters + CHILD_CONTEXT, sizeof data->context);
    memcpy(&data->self, parameters + CHILD_ID, sizeof data->self);
    atomic_store(&newest_context, data->context);
}

static void thread_end(void *memory)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct thread_data *data = memory;
    uint64_t ended = data->context;
    if (ended)
        atomic_compare_exchange_strong(&newest_context, &ended, 0);
    if (data->has_unknown_layout && !atomic_flag_test_and_set(&said))
        host->refuse(&hpcrun_agent, "the runtime's structures are not those of Cilk-5.4.6");
}

/* -------- the runtime's structures -------- */

/* The runtime's parameters; 0 if there is no computation. */
static uint64_t parameters(const struct agent_cursor *cursor)
{
    const struct thread_data *data = cursor->thread_data;
    uint64_t context = data->context ? data->context : atomic_load(&newest_context);
    return context ? agent_u64(host, cursor, context + CONTEXT_PARAMETERS) : 0;
}

/* The address from which a closure was spawned; 0: unknown. */
static uint64_t site_of(const struct agent_cursor *cursor, uint64_t closure)
{
    return runtime()->site_in_closure
               ? agent_u64(host, cursor, closure + runtime()->site_in_closure)
               : 0;
}

/* -------- the closure that a worker runs -------- */

/* Reads are repeated this often if thieves interfere. */
#define MAX_THIEVES 64
/* Longest chain of closures; a longer one is taken for a circle in damaged memory. */
#define MAX_ANCESTORS 1000000

struct running {
    uint64_t closure; /* 0: none */
    uint64_t worker;  /* address of the worker's state */
};

static bool is_current(uint32_t status)
{
    return status == STATUS_RUNNING || status == STATUS_RETURNING;
}

/* The bottom of this worker's deque if the worker runs it. */
static struct running find_running(const struct agent_cursor *cursor)
{
    const struct thread_data *data = cursor->thread_data;
    uint64_t deques = agent_u64(host, cursor, parameters(cursor) + PARAMETERS_DEQUES);
    uint64_t bottom = deques + (uint64_t)data->self * DEQUE_SIZE + DEQUE_BOTTOM;
    struct running running = {.closure = agent_u64(host, cursor, bottom)};
    for (int i = 0; i < MAX_THIEVES && running.closure; i++) {
        uint32_t status = agent_u32(host, cursor, running.closure + CLOSURE_STATUS);
        running.worker = agent_u64(host, cursor, running.closure + CLOSURE_CACHE);
        uint64_t again = agent_u64(host, cursor, bottom);
        if (again == running.closure)
            return is_current(status) ? running : (struct running){0};
        running.closure = again;
    }
    return (struct running){0};
}

/* Whether the structures have the layout that the agent knows. */
static bool is_consistent(const struct agent_cursor *cursor, uint64_t worker)
{
    const struct thread_data *data = cursor->thread_data;
    return agent_u32(host, cursor, worker + WORKER_SELF) == data->self &&
           agent_u64(host, cursor, worker + WORKER_CONTEXT) == data->context;
}

/* The closure whose slow clone the scheduler called: the ancestor of the running closure that has
 * the worker's oldest frame. A closure without a frame is the one: its slow clone is giving its
 * result. 0: none. */
static uint64_t find_base(const struct agent_cursor *cursor, struct running running)
{
    uint64_t oldest =
        agent_u64(host, cursor, agent_u64(host, cursor, running.worker + WORKER_STACK));
    uint64_t closure = running.closure;
    for (int i = 0; i < MAX_ANCESTORS && closure && oldest; i++) {
        uint64_t frame = agent_u64(host, cursor, closure + CLOSURE_FRAME);
        if (frame == oldest || frame == 0)
            return closure;
        closure = agent_u64(host, cursor, closure + CLOSURE_PARENT);
    }
    return 0;
}

/* -------- the physical path -------- */

static bool is_in_scheduler(uint64_t pc)
{
    return is_in(runtime()->scheduler, pc);
}

/* The index of the outermost frame whose pc matches; false if there is none. */
static bool find_frame(const struct agent_cursor *cursor, bool (*matches)(uint64_t pc),
                       uint32_t *index)
{
    struct agent_frame frame;
    for (*index = 0; host->path_frame(cursor, *index, &frame); ++*index)
        if (matches(frame.pc))
            return true;
    return false;
}

/* Whether frame i exists and is a procedure's. */
static bool is_procedure(const struct agent_cursor *cursor, uint32_t i)
{
    struct agent_frame frame;
    return host->path_frame(cursor, i, &frame) && !is_in_runtime(frame.pc) &&
           !is_in(runtime()->linker, frame.pc);
}

/* Whether the worker is in user code: the scheduler has called a slow clone, or the root's slow
 * clone has called the user's first procedure, usually through its import. A path that is cut
 * before the scheduler is in user code. */
static bool is_in_procedure(const struct agent_cursor *cursor)
{
    uint32_t i;
    struct agent_frame frame;
    if (!find_frame(cursor, is_in_scheduler, &i))
        return true;
    i++;
    if (host->path_frame(cursor, i, &frame) && is_in(runtime()->root, frame.pc))
        i++;
    if (host->path_frame(cursor, i, &frame) && is_claimed_as(IMPORT, frame.pc))
        i++;
    return is_procedure(cursor, i);
}

/* -------- at a sample -------- */

/* The status of a thread that is no worker. It belongs to the runtime while it is in the runtime's
 * functions: the initial thread waits there for the workers. */
static enum agent_thread_status status_of_other(const struct agent_cursor *cursor)
{
    uint32_t i;
    return find_frame(cursor, is_in_runtime, &i) ? AGENT_RUNTIME_OWNED : AGENT_FOREIGN;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct thread_data *data = cursor->thread_data;
    struct state *state = cursor->state;
    if (!runtime()->is_known || data->has_unknown_layout)
        return AGENT_FOREIGN;
    if (!data->context)
        return status_of_other(cursor);
    struct running running = find_running(cursor);
    if (!running.closure)
        return AGENT_IDLE;
    if (!is_consistent(cursor, running.worker)) {
        data->has_unknown_layout = true;
        return AGENT_FOREIGN;
    }
    uint64_t base = find_base(cursor, running);
    if (!base || !is_in_procedure(cursor))
        return AGENT_IDLE;
    state->is_working = true;
    state->closure = agent_u64(host, cursor, base + CLOSURE_PARENT);
    state->site = site_of(cursor, base);
    return AGENT_WORKING;
}

/* The number of deques whose bottom is being run. */
static uint32_t count_working(const struct agent_cursor *cursor, uint64_t deques, uint32_t workers)
{
    uint32_t working = 0;
    for (uint32_t i = 0; i < workers && deques; i++) {
        uint64_t closure =
            agent_u64(host, cursor, deques + (uint64_t)i * DEQUE_SIZE + DEQUE_BOTTOM);
        working += closure && is_current(agent_u32(host, cursor, closure + CLOSURE_STATUS));
    }
    return working;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    struct agent_worker_counts counts = {0};
    uint64_t runtime_parameters = parameters(cursor);
    if (!runtime_parameters)
        return counts;
    counts.workers = agent_u32(host, cursor, runtime_parameters + PARAMETERS_WORKERS);
    counts.working =
        runtime()->working
            ? agent_u32(host, cursor, runtime()->working)
            : count_working(cursor, agent_u64(host, cursor, runtime_parameters + PARAMETERS_DEQUES),
                            counts.workers);
    return counts;
}

/* -------- bichords -------- */

/* The root, which has no parent, is the runtime's own and no l-note. */
static bool has_lnote(const struct agent_cursor *cursor)
{
    const struct state *state = cursor->state;
    return state->closure && agent_u64(host, cursor, state->closure + CLOSURE_PARENT);
}

/* The outermost l-notes are the caller's frames, on the stack of its thread. */
static void begin_caller(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    const struct caller caller = find_caller(host, cursor);
    cursor->owner = caller.thread;
    state->caller = caller.frame;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    if (!state->is_working) {
        state->native = frame->pc;
        return AGENT_1_1;
    }
    if (state->is_below)
        return AGENT_M_0;
    if (!is_in_scheduler(frame->pc)) {
        /* The runtime's functions call libc for locks and memory. An import may contain its
         * procedure, whose calls of libc are the user's. */
        cursor->include_libc = is_in_runtime(frame->pc);
        return AGENT_1_0;
    }
    state->is_below = true;
    begin_caller(cursor);
    return has_lnote(cursor) || state->caller.pc ? AGENT_1_M : AGENT_1_0;
}

/* All frames outside the scheduler's are the runtime's. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

static bool step_native(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    *note = (struct agent_lnote){AGENT_CODE, .value = state->native, .site = state->native};
    state->native = 0;
    return true;
}

static bool step_caller(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    *note = agent_native_note(&state->caller);
    if (!state->caller.pc || !host->step(cursor, &state->caller))
        state->caller.pc = 0;
    return note->value != 0;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    if (state->native)
        return step_native(cursor, note);
    if (!has_lnote(cursor))
        return step_caller(cursor, note);
    uint64_t frame = agent_u64(host, cursor, state->closure + CLOSURE_FRAME);
    uint64_t signature = agent_u64(host, cursor, frame + FRAME_SIGNATURE);
    *note = (struct agent_lnote){.space = AGENT_CODE,
                                 .value = agent_u64(host, cursor, signature + SIGNATURE_SLOW),
                                 .site = state->site};
    state->site = site_of(cursor, state->closure);
    state->closure = agent_u64(host, cursor, state->closure + CLOSURE_PARENT);
    return note->value != 0;
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "cilk5",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct thread_data),
    .state_bytes = sizeof(struct state),
    .deterministic = true,
    .start = start,
    .module_added = module_added,
    .module_removed = runtime_forget,
    .thread_begin = thread_begin,
    .thread_end = thread_end,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = step_bichord,
    .step_pnote = step_pnote,
    .step_lnote = step_lnote,
};
