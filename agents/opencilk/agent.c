/* The agent for OpenCilk's runtime, "Cheetah" v2.1 and later, unpatched or not, as a shared library
 * or linked into a program that is not stripped.
 *
 * OpenCilk has a real cactus stack: a worker that resumes a stolen procedure runs on a new stack, a
 * *fiber*, with its frame pointer in the procedure's frame on the victim's fiber. So the physical
 * path through the fibers is the logical one, except for these frames:
 *
 *     frames                                       bichord
 *     functions of the runtime that procedures     1-0, or M-0 with the functions of libc that they
 *       call                                       call
 *     spawn helpers (opencilk-helpers.h)           1-0
 *     the scheduler, on the thread's own stack     1-M and M-0, see below
 *
 * Threads. The thread-local variable __cilkrts_tls_worker is the thread's worker:
 *
 *     thread                                       __cilkrts_tls_worker
 *     thief, created by the runtime                its own worker, soon after its creation
 *     boss, on whose stack the region began        worker 0
 *     any other thread                             worker 0
 *
 * A worker executes user code if its state is RUN and the fiber in its thread-local variable
 * __cilkrts_current_fh belongs to it. Both conditions are needed. A worker that must wait at a sync
 *   1. gives its fiber back,
 *   2. gives the procedure away,
 *   3. changes its state.
 * Between 2 and 3 another worker may resume the procedure, and its frames must not be read here.
 *
 * The scheduler runs on the thread's own stack: a thief's at the thread's start, the boss's on top
 * of the frame that began the region. With state RUN a worker is there for a few instructions,
 * before it jumps to a procedure and after it returned from a child whose caller was stolen. Then
 * the path continues with the procedure's frame: 1-M. The frames outside the scheduler's are the
 * runtime's, or not being executed: M-0. */
#include "agents/agent.h"
#include "agents/common/linked-runtime.h"
#include "agents/common/loaded-modules.h"
#include "agents/common/published-copy.h"
#include "agents/opencilk/opencilk-exports.h"
#include "agents/opencilk/opencilk-helpers.h"
#include "agents/opencilk/opencilk-image.h"
#include "agents/opencilk/opencilk-layout.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_VERSION "the runtime is of a version that the agent does not know (it knows 2.1)"

extern void *__libc_stack_end; /* the upper end of the initial thread's stack */

static const struct agent_host *host;

/* The one runtime in the process. All but tls_module, worker and fiber are addresses. */
struct runtime {
    uint64_t module;          /* start of the module that has the runtime */
    uint64_t first_worker;    /* worker 0 */
    uint64_t need_to_cilkify; /* a byte: 1 if no region is open */
    uint64_t working;         /* counter of working workers; 0: the runtime is not patched */
    size_t tls_module;        /* number of the runtime's thread-local storage */
    uint64_t worker, fiber;   /* offsets of its variables in it */
};

static const struct runtime no_runtime;
static _Atomic(const struct runtime *) known_runtime = &no_runtime;

/* All zeros if there is none. */
static const struct runtime *runtime(void)
{
    return atomic_load_explicit(&known_runtime, memory_order_acquire);
}

struct thread_data {
    bool is_of_runtime; /* the runtime created the thread */
};

/* cursor->state */
struct state {
    uint64_t global; /* address of the runtime's state; 0: the thread is no worker */
    uint64_t fiber;  /* on which the thread executes user code; 0: it does not */
    enum { NOT_IN_SCHEDULER, PAST_INNERMOST_FRAME, PAST_SCHEDULER } position; /* of the walk */
    bool steps;              /* the callers of `next` are l-notes, too */
    struct agent_frame next; /* frame of the next l-note; pc 0: none */
};

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    if (host->dag)
        host->dag->cannot_tell("OpenCilk's programs report them only if they are compiled with "
                               "-fcilktool=cilkscale");
    return true;
}

/* -------- modules -------- */

static bool is_in_runtime(uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim) && claim.tag == RUNTIME;
}

static bool is_in_helper(uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim) && claim.tag != RUNTIME;
}

/* Claims the whole module if it is a library, else the functions that were linked in. */
static void claim_runtime(const struct agent_module *module)
{
    struct agent_claim whole = {module->start, module->end, RUNTIME};
    size_t count = 1;
    struct agent_claim *parts =
        module->path[0] ? NULL : linked_runtime(module, opencilk_exports, RUNTIME, &count);
    if (module->path[0] || parts)
        host->claim(&hpcrun_agent, parts ? parts : &whole, count);
    free(parts);
}

static void claim_helpers(const struct image *image)
{
    size_t count, left = 0;
    struct agent_claim *helpers = helpers_find(image, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_in_runtime(helpers[i].start))
            helpers[left++] = helpers[i];
    if (left > 0)
        host->claim(&hpcrun_agent, helpers, left);
    free(helpers);
}

/* Normal context. The initial value of __cilkrts_tls_worker, worker 0; the headers say where it
 * is. */
static uint64_t initial_worker(const struct image *image, const ElfW(Sym) * worker)
{
    return *(const uint64_t *)(image_tls_template(image) + worker->st_value);
}

/* The address of a variable of the module; 0 if it has none. If the program has a copy of a
 * library's variable (a copy relocation), that copy is in use. */
static uint64_t variable(const struct image *image, const char *name)
{
    const ElfW(Sym) *symbol = image_symbol(image, name);
    const void *copy = symbol ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (copy)
        return (uint64_t)copy;
    return symbol ? image->bias + symbol->st_value : 0;
}

static void learn_runtime(const struct agent_module *module, const struct image *image,
                          const ElfW(Sym) * worker)
{
    const ElfW(Sym) *fiber = image_symbol(image, "__cilkrts_current_fh");
    uint64_t outside = variable(image, "__cilkrts_need_to_cilkify");
    if (!fiber || !outside || !image->tls_module || !initial_worker(image, worker)) {
        host->refuse(&hpcrun_agent, UNKNOWN_VERSION);
        return;
    }
    host->refuse(&hpcrun_agent, NULL);
    const struct runtime found = {.module = module->start,
                                  .first_worker = initial_worker(image, worker),
                                  .need_to_cilkify = outside,
                                  .working = variable(image, "hpctoolkit_opencilk_working"),
                                  .tls_module = image->tls_module,
                                  .worker = worker->st_value,
                                  .fiber = fiber->st_value};
    static struct published_copy *copies;
    const struct runtime *copy = published_copy(&copies, &found, sizeof found);
    if (!copy)
        return;
    atomic_store(&known_runtime, copy);
    claim_runtime(module);
}

/* Whether the module is the runtime's library by its name. */
static bool is_library(const struct agent_module *module)
{
    static const char name[] = "libopencilk.so";
    const char *slash = strrchr(module->path, '/');
    return strncmp(slash ? slash + 1 : module->path, name, sizeof name - 1) == 0;
}

/* While the module is pinned. */
static void learn(const struct agent_module *module)
{
    struct image image;
    if (!image_of(module, &image))
        return;
    const ElfW(Sym) *worker = image_symbol(&image, "__cilkrts_tls_worker");
    if (!worker && is_library(module))
        host->refuse(&hpcrun_agent, UNKNOWN_VERSION);
    if (worker && !runtime()->first_worker)
        learn_runtime(module, &image, worker);
    if (!worker || !module->path[0])
        claim_helpers(&image);
}

static void module_added(const struct agent_module *module)
{
    struct pinned_module pinned;
    if (!module_pin(module->start, module->path, &pinned))
        return;
    learn(module);
    module_unpin(&pinned);
}

static void module_removed(const struct agent_module *module)
{
    if (runtime()->module == module->start)
        atomic_store(&known_runtime, &no_runtime);
}

/* -------- threads -------- */

static void thread_begin(void *thread_data, int tid, struct agent_start_routine routine)
{
    struct thread_data *data = thread_data;
    (void)tid;
    data->is_of_runtime = is_in_runtime(routine.function);
}

/* -------- reading; 0 if the memory cannot be read -------- */

/* The calling thread's storage of the runtime's thread-local variables; 0 if it never used them. As
 * in debuggers: the thread control block at fs points to the vector (dtv) of the modules' storages;
 * the vector's size is in the entry before it. */
static uint64_t thread_local_storage(const struct agent_cursor *cursor)
{
    enum { VECTOR = 8, ENTRY = 16 };
    uint64_t control;
    __asm__("mov %%fs:0, %0" : "=r"(control));
    uint64_t vector = agent_u64(host, cursor, control + VECTOR);
    if (agent_u64(host, cursor, vector - ENTRY) < runtime()->tls_module)
        return 0;
    uint64_t storage = agent_u64(host, cursor, vector + runtime()->tls_module * ENTRY);
    return storage == UINT64_MAX ? 0 : storage;
}

/* -------- workers -------- */

/* The address of worker i; 0 if it was never used. */
static uint64_t worker_at(const struct agent_cursor *cursor, uint64_t global, uint32_t i)
{
    return agent_u64(host, cursor,
                     agent_u64(host, cursor, global + GLOBAL_WORKERS) + 8 * (uint64_t)i);
}

/* The address of the runtime's state. 0 before its constructor, after its destructor, or if it does
 * not have the layout that the agent knows. */
static uint64_t find_global(const struct agent_cursor *cursor)
{
    uint64_t global = agent_u64(host, cursor, runtime()->first_worker + WORKER_GLOBAL);
    uint32_t workers = global ? agent_u32(host, cursor, global + GLOBAL_WORKER_COUNT) : 0;
    if (!workers || workers > MAX_WORKERS ||
        !agent_u64(host, cursor, runtime()->first_worker + WORKER_LOCAL) ||
        worker_at(cursor, global, 0) != runtime()->first_worker)
        return 0;
    return global;
}

/* IDLE, SCHED, STEAL or RUN; 0 if the worker was never used. */
static uint32_t worker_state(const struct agent_cursor *cursor, uint64_t worker)
{
    uint64_t local = agent_u64(host, cursor, worker + WORKER_LOCAL);
    return local ? agent_u16(host, cursor, local + LOCAL_STATE) : 0;
}

static bool is_outside_regions(const struct agent_cursor *cursor)
{
    uint8_t outside;
    return host->read(cursor, runtime()->need_to_cilkify, &outside, sizeof outside) && outside;
}

static bool is_on_own_stack(const struct agent_cursor *cursor, uint64_t address)
{
    return address >= cursor->stack_low && address < cursor->stack_high;
}

static bool is_initial_thread(const struct agent_cursor *cursor)
{
    return is_on_own_stack(cursor, (uint64_t)__libc_stack_end);
}

static bool is_boss(const struct agent_cursor *cursor, uint64_t global)
{
    return is_on_own_stack(cursor, agent_u64(host, cursor, global + GLOBAL_BOSS_SP));
}

/* The fiber on which the thread executes user code as this worker; 0 if it does not. */
static uint64_t find_fiber(const struct agent_cursor *cursor, uint64_t worker, uint64_t storage)
{
    uint64_t fiber = agent_u64(host, cursor, storage + runtime()->fiber);
    bool runs = worker_state(cursor, worker) == STATE_RUN && fiber &&
                agent_u64(host, cursor, fiber + FIBER_WORKER) == worker;
    return runs ? fiber : 0;
}

/* The status of a thread that is not (yet) a thief:
 *
 *     thread                       in a region         outside
 *     created by the runtime       idle                idle
 *     the one that began it        working or idle     -
 *     initial thread               foreign             working: the program's serial code
 *     other                        foreign             foreign */
static enum agent_thread_status begin_in_program(struct agent_cursor *cursor, uint64_t storage)
{
    struct state *state = cursor->state;
    const struct thread_data *data = cursor->thread_data;
    if (data->is_of_runtime)
        return AGENT_IDLE;
    if (is_outside_regions(cursor))
        return is_initial_thread(cursor) ? AGENT_WORKING : AGENT_FOREIGN;
    if (!is_boss(cursor, state->global))
        return AGENT_FOREIGN;
    state->fiber = find_fiber(cursor, runtime()->first_worker, storage);
    return state->fiber ? AGENT_WORKING : AGENT_IDLE;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    state->global = runtime()->first_worker ? find_global(cursor) : 0;
    if (!state->global)
        return AGENT_FOREIGN;
    uint64_t storage = thread_local_storage(cursor);
    uint64_t worker =
        storage ? agent_u64(host, cursor, storage + runtime()->worker) : runtime()->first_worker;
    if (worker == runtime()->first_worker)
        return begin_in_program(cursor, storage);
    if (agent_u64(host, cursor, worker + WORKER_GLOBAL) != state->global)
        return AGENT_FOREIGN;
    state->fiber = find_fiber(cursor, worker, storage);
    return state->fiber ? AGENT_WORKING : AGENT_IDLE;
}

/* The number of workers that execute user code. */
static uint32_t count_working(const struct agent_cursor *cursor, uint64_t global, uint32_t workers)
{
    uint32_t working = 0;
    if (runtime()->working)
        return agent_u32(host, cursor, runtime()->working);
    for (uint32_t i = 0; i < workers; i++)
        working += worker_state(cursor, worker_at(cursor, global, i)) == STATE_RUN;
    return working;
}

/* Outside of regions the initial thread works, so one more is working. */
static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    const struct state *state = cursor->state;
    uint64_t global = state->global;
    uint32_t workers = global ? agent_u32(host, cursor, global + GLOBAL_WORKER_COUNT) : 0;
    if (workers == 0 || workers > MAX_WORKERS)
        return (struct agent_worker_counts){0};
    return (struct agent_worker_counts){.workers = workers,
                                        .working = count_working(cursor, global, workers) +
                                                   is_outside_regions(cursor)};
}

/* -------- bichords -------- */

static bool is_interrupted(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    return frame->pc == cursor->leaf.pc && frame->sp == cursor->leaf.sp;
}

/* Whether a helper's frame is an l-note. A spawned statement may run in the helper itself, and then
 * the helper's own time is the user's. Without a known runtime a helper is native code. */
static bool is_visible(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_claim helper;
    return !runtime()->first_worker ||
           (is_interrupted(cursor, frame) && host->find_claim(&hpcrun_agent, frame->pc, &helper) &&
            helper.tag == HELPER_WITH_USER_CODE);
}

static enum agent_association begin_helper(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    if (!is_visible(cursor, frame))
        return AGENT_1_0;
    state->next.pc = frame->pc;
    return AGENT_1_1;
}

/* Whether the caller of a frame and the caller's caller are the runtime's, too. */
static bool is_deep_in_runtime(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_frame caller = *frame;
    return host->step(cursor, &caller) && is_in_runtime(caller.pc) && host->step(cursor, &caller) &&
           is_in_runtime(caller.pc);
}

/* The path continues with the innermost procedure on the fiber. */
static enum agent_association begin_procedure(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    uint64_t frame = agent_u64(host, cursor, state->fiber + FIBER_CURRENT_FRAME);
    state->position = PAST_SCHEDULER;
    if (!frame || agent_u32(host, cursor, frame + FRAME_MAGIC) != FRAME_MAGIC_VALUE)
        return AGENT_M_0;
    state->next = (struct agent_frame){agent_u64(host, cursor, frame + FRAME_PC),
                                       agent_u64(host, cursor, frame + FRAME_SP),
                                       agent_u64(host, cursor, frame + FRAME_FP)};
    state->steps = true;
    return AGENT_1_M;
}

/* The scheduler's frames. If there are several, the innermost is 1-0, so that its time counts as
 * overhead. */
static enum agent_association begin_scheduler(struct agent_cursor *cursor,
                                              const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    if (state->position == PAST_SCHEDULER)
        return AGENT_M_0;
    if (state->position == PAST_INNERMOST_FRAME || !is_deep_in_runtime(cursor, frame)) {
        cursor->include_libc = false;
        return begin_procedure(cursor);
    }
    state->position = PAST_INNERMOST_FRAME;
    return AGENT_1_0;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    state->next.pc = 0;
    state->steps = false;
    if (!is_in_runtime(frame->pc))
        return begin_helper(cursor, frame);
    cursor->include_libc = true; /* 1-0 frames call libc for locks and memory */
    if (!state->fiber || !is_on_own_stack(cursor, frame->sp))
        return AGENT_1_0;
    return begin_scheduler(cursor, frame);
}

/* All frames outside the scheduler's belong to its bichord. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

/* Moves to the caller of the last l-note's frame; skips helpers. The outermost frame is on the
 * stack of the thread that began the region. */
static void step_to_caller(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    bool more = state->steps;
    do
        more = more && host->step(cursor, &state->next);
    while (more && is_in_helper(state->next.pc));
    if (state->steps && !more)
        cursor->owner = host->stack_owner(cursor, state->next.sp);
    if (!more)
        state->next.pc = 0;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    const struct state *state = cursor->state;
    if (!state->next.pc)
        return false;
    *note = agent_native_note(&state->next);
    step_to_caller(cursor);
    return true;
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "opencilk",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct thread_data),
    .state_bytes = sizeof(struct state),
    .deterministic = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .thread_begin = thread_begin,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = step_bichord,
    .step_pnote = step_pnote,
    .step_lnote = step_lnote,
};
