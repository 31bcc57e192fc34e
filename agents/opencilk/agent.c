/* The agent for OpenCilk's runtime, "Cheetah" v2.1 and later, unpatched or not, as a shared library
 * or linked into a program that is not stripped.
 *
 * Its cactus stack is a real one: who resumes a stolen procedure runs on a new stack, a *fiber*,
 * with its frame pointer in the procedure's frame on the victim's fiber. A physical path through
 * fibers is therefore the logical one, but for frames that nobody wrote:
 *
 *     the runtime's functions that procedures call      1-0, with libc's that they call M-0
 *     spawn helpers (helpers.h)                          1-0
 *     the scheduler, on the thread's own stack           1-M and M-0, see below
 *
 * Threads. A thief's thread-local __cilkrts_tls_worker is its worker, soon after the runtime
 * created the thread. In all other threads it is worker 0; of these the *boss* is the one on whose
 * stack the parallel region began. A worker executes the user's code when its state is RUN and its
 * thread-local __cilkrts_current_fh, the fiber that it runs on, belongs to it. Both are needed: a
 * worker that has to wait at a sync gives the fiber back before it gives the procedure away, and
 * changes its state after it; in between others may resume the procedure, and its frames are no
 * longer this thread's to read.
 *
 * The scheduler runs on the thread's own stack: a thief's begins where threads begin, the boss's on
 * top of whoever began the region. With state RUN a worker is in there for some instructions,
 * before it jumps to a procedure and after it came back from a child whose caller was stolen. The
 * path is then told from the procedure's frame: 1-M. What is outside the scheduler is the
 * runtime's, or not being executed: M-0. */
#include "agents/agent.h"
#include "agents/common/linked-runtime.h"
#include "agents/opencilk/opencilk-exports.h"
#include "agents/opencilk/opencilk-helpers.h"
#include "agents/opencilk/opencilk-image.h"
#include "agents/opencilk/opencilk-layout.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NOT_KNOWN "the runtime is of a version that the agent does not know (it knows 2.1)"

extern void *__libc_stack_end; /* where the initial thread's stack begins */

static const struct agent_host *host;

/* The one runtime in the process; zeros while there is none. Set in normal context before its code
 * is claimed. */
static struct {
    uint64_t module;               /* where the module begins that it is in */
    _Atomic uint64_t first_worker; /* worker 0; 0: none. Set last: handlers run meanwhile */
    uint64_t need_to_cilkify;      /* a byte: whether no region is open */
    uint64_t working;              /* count of working workers; 0: the runtime was not patched */
    size_t tls_module;             /* thread-local variables: their module's number, */
    uint64_t worker, fiber;        /* and their places in its storage */
} runtime;

/* What a thread's slot keeps. */
struct slot {
    bool is_of_runtime; /* the runtime created it */
};

/* cursor->state */
enum {
    GLOBAL,    /* address of the runtime's state; 0: the thread is none of its workers */
    FIBER,     /* that the thread executes the user's code on; 0: it does not */
    SCHEDULER, /* how far the walk is in the scheduler: not, past its innermost frame, or told */
    PC,        /* of the next l-note's frame; 0: there is none */
    SP,
    BP,
    STEPS, /* whether there are callers to be told after it */
};

static bool start(const struct agent_host *its)
{
    host = its;
    return host->interface == AGENT_INTERFACE;
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

/* A library is the runtime's as a whole, of a program only the functions that were linked in are.
 */
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

/* In normal context what the module's headers say is there. */
static uint64_t initial_worker(const struct image *image, const ElfW(Sym) * worker)
{
    return *(const uint64_t *)(image_tls_template(image) + worker->st_value);
}

/* The address of a variable of the module, 0 if it has none. A program may have its own copy of a
 * library's variable, which is the one in use. */
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
        host->refuse(&hpcrun_agent, NOT_KNOWN);
        return;
    }
    host->refuse(&hpcrun_agent, NULL);
    runtime.module = module->start;
    runtime.need_to_cilkify = outside;
    runtime.working = variable(image, "hpctoolkit_opencilk_working");
    runtime.tls_module = image->tls_module;
    runtime.worker = worker->st_value;
    runtime.fiber = fiber->st_value;
    runtime.first_worker = initial_worker(image, worker);
    claim_runtime(module);
}

/* Whether the module is the runtime's library by its name. */
static bool is_library(const struct agent_module *module)
{
    static const char name[] = "libopencilk.so";
    const char *slash = strrchr(module->path, '/');
    return strncmp(slash ? slash + 1 : module->path, name, sizeof name - 1) == 0;
}

static void module_added(const struct agent_module *module)
{
    struct image image = {0};
    if (!image_of(module, &image))
        return;
    const ElfW(Sym) *worker = image_symbol(&image, "__cilkrts_tls_worker");
    if (!worker && is_library(module))
        host->refuse(&hpcrun_agent, NOT_KNOWN);
    if (worker && !runtime.first_worker)
        learn_runtime(module, &image, worker);
    if (!worker || !module->path[0])
        claim_helpers(&image);
}

static void module_removed(const struct agent_module *module)
{
    if (runtime.module == module->start)
        runtime.first_worker = runtime.module = 0;
}

/* -------- threads -------- */

static void thread_begin(void *its, int tid, struct agent_start_routine origin)
{
    struct slot *slot = its;
    (void)tid;
    slot->is_of_runtime = is_in_runtime(origin.function);
}

/* -------- reading; 0 where nothing can be read -------- */

/* The calling thread's storage of the runtime's thread-local variables, found as debuggers do:
 * behind the thread control block, which begins with its own address, is the vector of the modules'
 * storages, and before that its size. 0: the thread never used them. */
static uint64_t thread_local_storage(const struct agent_cursor *cursor)
{
    enum { VECTOR = 8, ENTRY = 16 };
    uint64_t control;
    __asm__("mov %%fs:0, %0" : "=r"(control));
    uint64_t vector = agent_u64(host, cursor, control + VECTOR);
    if (agent_u64(host, cursor, vector - ENTRY) < runtime.tls_module)
        return 0;
    uint64_t storage = agent_u64(host, cursor, vector + runtime.tls_module * ENTRY);
    return storage == UINT64_MAX ? 0 : storage;
}

/* -------- workers -------- */

/* Worker i, 0 when it was never used. */
static uint64_t worker_at(const struct agent_cursor *cursor, uint64_t global, uint32_t i)
{
    return agent_u64(host, cursor,
                     agent_u64(host, cursor, global + GLOBAL_WORKERS) + 8 * (uint64_t)i);
}

/* The runtime's state, between its constructor and its destructor; else, and when it is not laid
 * out as known, 0. */
static uint64_t find_global(const struct agent_cursor *cursor)
{
    uint64_t global = agent_u64(host, cursor, runtime.first_worker + WORKER_GLOBAL);
    uint32_t workers = global ? agent_u32(host, cursor, global + GLOBAL_WORKER_COUNT) : 0;
    if (!workers || workers > MOST_WORKERS ||
        !agent_u64(host, cursor, runtime.first_worker + WORKER_LOCAL) ||
        worker_at(cursor, global, 0) != runtime.first_worker)
        return 0;
    return global;
}

/* IDLE, SCHED, STEAL or RUN; 0 for a worker that was never used. */
static uint32_t worker_state(const struct agent_cursor *cursor, uint64_t worker)
{
    uint64_t local = agent_u64(host, cursor, worker + WORKER_LOCAL);
    return local ? agent_u16(host, cursor, local + LOCAL_STATE) : 0;
}

static bool is_outside_regions(const struct agent_cursor *cursor)
{
    uint8_t outside;
    return host->read(cursor, runtime.need_to_cilkify, &outside, sizeof outside) && outside;
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

/* The fiber that the thread executes the user's code on, as this worker; 0 when it does not. */
static uint64_t find_fiber(const struct agent_cursor *cursor, uint64_t worker, uint64_t storage)
{
    uint64_t fiber = agent_u64(host, cursor, storage + runtime.fiber);
    bool runs = worker_state(cursor, worker) == STATE_RUN && fiber &&
                agent_u64(host, cursor, fiber + FIBER_WORKER) == worker;
    return runs ? fiber : 0;
}

/* What a thread is that is not a thief's yet, or never will be: the one that began the region, if
 * one is open, takes part in it; the initial thread runs the program's serial code outside regions.
 */
static enum agent_thread_status begin_in_program(struct agent_cursor *cursor, uint64_t storage)
{
    uint64_t *state = cursor->state;
    const struct slot *slot = cursor->thread_data;
    if (slot->is_of_runtime)
        return AGENT_IDLE;
    if (is_outside_regions(cursor))
        return is_initial_thread(cursor) ? AGENT_WORKING : AGENT_FOREIGN;
    if (!is_boss(cursor, state[GLOBAL]))
        return AGENT_FOREIGN;
    state[FIBER] = find_fiber(cursor, runtime.first_worker, storage);
    return state[FIBER] ? AGENT_WORKING : AGENT_IDLE;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    uint64_t *state = cursor->state;
    state[GLOBAL] = runtime.first_worker ? find_global(cursor) : 0;
    if (!state[GLOBAL])
        return AGENT_FOREIGN;
    uint64_t storage = thread_local_storage(cursor);
    uint64_t worker =
        storage ? agent_u64(host, cursor, storage + runtime.worker) : runtime.first_worker;
    if (worker == runtime.first_worker)
        return begin_in_program(cursor, storage);
    if (agent_u64(host, cursor, worker + WORKER_GLOBAL) != state[GLOBAL])
        return AGENT_FOREIGN;
    state[FIBER] = find_fiber(cursor, worker, storage);
    return state[FIBER] ? AGENT_WORKING : AGENT_IDLE;
}

/* Of workers, how many execute the user's code. */
static uint32_t count_working(const struct agent_cursor *cursor, uint64_t global, uint32_t workers)
{
    uint32_t working = 0;
    if (runtime.working)
        return agent_u32(host, cursor, runtime.working);
    for (uint32_t i = 0; i < workers; i++)
        working += worker_state(cursor, worker_at(cursor, global, i)) == STATE_RUN;
    return working;
}

/* Outside regions the initial thread works. */
static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    uint64_t global = cursor->state[GLOBAL];
    uint32_t workers = global ? agent_u32(host, cursor, global + GLOBAL_WORKER_COUNT) : 0;
    if (workers == 0 || workers > MOST_WORKERS)
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

/* Whether a frame of a helper is to be seen: a spawned statement runs in the helper itself, and
 * where that may be so, the helper's own time is the user's. A helper of a runtime that is not
 * known is native code. */
static bool is_shown(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_claim helper;
    return !runtime.first_worker ||
           (is_interrupted(cursor, frame) && host->find_claim(&hpcrun_agent, frame->pc, &helper) &&
            helper.tag == HELPER_WITH_USER_CODE);
}

static enum agent_association begin_helper(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    if (!is_shown(cursor, frame))
        return AGENT_1_0;
    cursor->state[PC] = frame->pc;
    return AGENT_1_1;
}

enum { NOT_IN_SCHEDULER, PAST_INNERMOST, TOLD };

/* Whether the two callers of a frame are the runtime's, too. */
static bool is_deep_in_runtime(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_frame caller = *frame;
    return host->step(cursor, &caller) && is_in_runtime(caller.pc) && host->step(cursor, &caller) &&
           is_in_runtime(caller.pc);
}

/* The path goes on with the procedure at the end of the fiber. */
static enum agent_association tell_procedure(struct agent_cursor *cursor)
{
    uint64_t *state = cursor->state;
    uint64_t frame = agent_u64(host, cursor, state[FIBER] + FIBER_CURRENT_FRAME);
    state[SCHEDULER] = TOLD;
    if (!frame || agent_u32(host, cursor, frame + FRAME_MAGIC) != FRAME_MAGIC_VALUE)
        return AGENT_M_0;
    state[PC] = agent_u64(host, cursor, frame + FRAME_PC);
    state[SP] = agent_u64(host, cursor, frame + FRAME_SP);
    state[BP] = agent_u64(host, cursor, frame + FRAME_FP);
    state[STEPS] = true;
    return AGENT_1_M;
}

/* The scheduler's frames: if there are enough of them, the innermost is one that nobody wrote; its
 * time is then seen to be overhead. */
static enum agent_association begin_scheduler(struct agent_cursor *cursor,
                                              const struct agent_frame *frame)
{
    uint64_t *state = cursor->state;
    if (state[SCHEDULER] == TOLD)
        return AGENT_M_0;
    if (state[SCHEDULER] == PAST_INNERMOST || !is_deep_in_runtime(cursor, frame)) {
        cursor->include_libc = false;
        return tell_procedure(cursor);
    }
    state[SCHEDULER] = PAST_INNERMOST;
    return AGENT_1_0;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    uint64_t *state = cursor->state;
    state[PC] = state[STEPS] = 0;
    if (!is_in_runtime(frame->pc))
        return begin_helper(cursor, frame);
    cursor->include_libc = true; /* for what is 1-0: its locks, its memory */
    if (!state[FIBER] || !is_on_own_stack(cursor, frame->sp))
        return AGENT_1_0;
    return begin_scheduler(cursor, frame);
}

/* Below the scheduler nothing is being executed. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

/* The caller of the frame that was told, but for helpers. */
static void go_to_caller(struct agent_cursor *cursor)
{
    uint64_t *state = cursor->state;
    struct agent_frame frame = {state[PC], state[SP], state[BP]};
    bool more = state[STEPS];
    do
        more = more && host->step(cursor, &frame);
    while (more && is_in_helper(frame.pc));
    state[PC] = more ? frame.pc : 0;
    state[SP] = frame.sp;
    state[BP] = frame.bp;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    uint64_t pc = cursor->state[PC];
    if (!pc)
        return false;
    *note = (struct agent_lnote){.space = AGENT_CODE, .value = pc, .site = pc};
    go_to_caller(cursor);
    return true;
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "opencilk",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct slot),
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
