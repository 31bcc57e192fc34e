/* The agent for Cilk-5.4.6, as its authors left it and with our patch (runtime-patches/cilk5), as a
 * shared library or linked into a program that is not stripped.
 *
 * A worker's stack, innermost first, and what it becomes:
 *
 *     C functions, fast clones, the slow clone that the scheduler called      native code
 *     Cilk_scheduler               1-M: the ancestors of the closure that the slow clone belongs
 *                                  to, from the heap; their spawn sites are known only where
 *                                  the runtime is patched
 *     Cilk_child_main ... the thread's start                                  M-0
 *     other functions of the runtime, the root, the import of its procedure   1-0
 *     (imports.h); with functions of libc that they have called              M-0
 *
 * The thread that starts the computation, as the initial thread does, waits in the runtime for the
 * workers to end: while it does it is the runtime's own, and never pays.
 *
 * What it relies on. A worker's thread is created with the address of {context, id}, which lives as
 * long as the thread; the context lives as long as its workers. The worker's state is found from
 * there: the deque's bottom is the closure that the worker runs, and points to the worker. It is
 * there with status RUNNING from before its slow clone is called until its procedure gives its
 * result, then RETURNING until the scheduler takes it out; or it is taken out when it waits for its
 * children. All that time its chain of parents stands still.
 *
 * Windows. A thief may promote this worker's innermost unstolen frame at any instant: it makes the
 * new closure the bottom first, then changes the old one, so what was read of a closure holds if it
 * is the bottom still. While RETURNING the closure's frame is cleared or freed, and the stack
 * unwinds through procedures that were stolen: they are its ancestors, so the path is right. Before
 * the slow clone is called and after it has returned the worker is idle to us. */
#include "agents/agent.h"

#include "agents/cilk5/cilk5-layout.h"
#include "agents/cilk5/cilk5-runtime.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct agent_host *host;

/* The context of the last computation that got workers; 0 when they end. For threads that are none.
 */
static _Atomic uint64_t newest_context;

/* A thread: of which context it is worker number `self`; context 0: it is none. */
struct slot {
    uint64_t context;
    uint32_t self;
    bool is_strange; /* the runtime's structures were not as expected */
};

/* cursor->state */
enum {
    IS_WORKER, /* and works */
    CLOSURE,   /* of the next l-note */
    SITE,      /* that this closure spawned the one inside from; 0: not known */
    BELOW,     /* whether the walk is past Cilk_scheduler */
    NATIVE,    /* the next l-note is this pc itself */
};

/* -------- modules -------- */

static bool start(const struct agent_host *its)
{
    host = its;
    runtime_start(its);
    return host->interface == AGENT_INTERFACE;
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

static bool is_in(struct range range, uint64_t pc)
{
    return pc >= range.begin && pc < range.end;
}

static bool is_claimed_as(uint32_t mark, uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim) && claim.tag == mark;
}

static bool is_in_runtime(uint64_t pc)
{
    return is_claimed_as(RUNTIME, pc);
}

/* -------- threads -------- */

static void thread_begin(void *memory, int tid, struct agent_start_routine origin)
{
    (void)tid;
    struct slot *slot = memory;
    *slot = (struct slot){0};
    if (!runtime.is_known || origin.function != runtime.child_main.begin)
        return;
    const char *parameters = (const char *)origin.argument;
    memcpy(&slot->context, parameters + CHILD_CONTEXT, sizeof slot->context);
    memcpy(&slot->self, parameters + CHILD_ID, sizeof slot->self);
    atomic_store(&newest_context, slot->context);
}

static void thread_end(void *memory)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct slot *slot = memory;
    uint64_t ended = slot->context;
    if (ended)
        atomic_compare_exchange_strong(&newest_context, &ended, 0);
    if (slot->is_strange && !atomic_flag_test_and_set(&said))
        host->refuse(&hpcrun_agent, "the runtime's structures are not those of Cilk-5.4.6");
}

/* -------- the runtime's structures -------- */

/* The runtime's parameters; 0 when there is no computation. */
static uint64_t parameters(const struct agent_cursor *cursor)
{
    const struct slot *slot = cursor->thread_data;
    uint64_t context = slot->context ? slot->context : atomic_load(&newest_context);
    return context ? agent_u64(host, cursor, context + CONTEXT_PARAMETERS) : 0;
}

/* The statement that a closure was spawned from; 0 when not known. */
static uint64_t site_of(const struct agent_cursor *cursor, uint64_t closure)
{
    return runtime.site_in_closure ? agent_u64(host, cursor, closure + runtime.site_in_closure) : 0;
}

/* -------- the closure that a worker runs -------- */

/* How often a thief may come between the reads. */
#define MOST_THIEVES 64
/* How long a chain of closures is believed. */
#define MOST_ANCESTORS 1000000

struct running {
    uint64_t closure; /* 0: none */
    uint64_t worker;  /* its state */
};

static bool is_current(uint32_t status)
{
    return status == STATUS_RUNNING || status == STATUS_RETURNING;
}

/* The bottom of this worker's deque, if the worker runs it. */
static struct running find_running(const struct agent_cursor *cursor)
{
    const struct slot *slot = cursor->thread_data;
    uint64_t deques = agent_u64(host, cursor, parameters(cursor) + PARAMETERS_DEQUES);
    uint64_t bottom = deques + (uint64_t)slot->self * DEQUE_SIZE + DEQUE_BOTTOM;
    struct running running = {.closure = agent_u64(host, cursor, bottom)};
    for (int i = 0; i < MOST_THIEVES && running.closure; i++) {
        uint32_t status = agent_u32(host, cursor, running.closure + CLOSURE_STATUS);
        running.worker = agent_u64(host, cursor, running.closure + CLOSURE_CACHE);
        uint64_t again = agent_u64(host, cursor, bottom);
        if (again == running.closure)
            return is_current(status) ? running : (struct running){0};
        running.closure = again;
    }
    return (struct running){0};
}

/* Whether the structures are those that the agent knows. */
static bool is_consistent(const struct agent_cursor *cursor, uint64_t worker)
{
    const struct slot *slot = cursor->thread_data;
    return agent_u32(host, cursor, worker + WORKER_SELF) == slot->self &&
           agent_u64(host, cursor, worker + WORKER_CONTEXT) == slot->context;
}

/* The closure whose slow clone the scheduler called: the ancestor of the running one that has the
 * worker's oldest frame. One that has given up its frame is that closure itself: a slow clone gives
 * its result. 0 when there is none. */
static uint64_t find_base(const struct agent_cursor *cursor, struct running running)
{
    uint64_t oldest =
        agent_u64(host, cursor, agent_u64(host, cursor, running.worker + WORKER_STACK));
    uint64_t closure = running.closure;
    for (int i = 0; i < MOST_ANCESTORS && closure && oldest; i++) {
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
    return is_in(runtime.scheduler, pc);
}

/* The outermost frame that is so: its index; false when there is none. */
static bool find_frame(const struct agent_cursor *cursor, bool (*is_so)(uint64_t pc),
                       uint32_t *index)
{
    struct agent_frame frame;
    for (*index = 0; host->path_frame(cursor, *index, &frame); ++*index)
        if (is_so(frame.pc))
            return true;
    return false;
}

/* Whether frame i is there and a procedure's. */
static bool is_procedure(const struct agent_cursor *cursor, uint32_t i)
{
    struct agent_frame frame;
    return host->path_frame(cursor, i, &frame) && !is_in_runtime(frame.pc) &&
           !is_in(runtime.linker, frame.pc);
}

/* Whether the scheduler has called a slow clone, or the root's has called the user's procedure,
 * mostly through its import. When the path doesn't reach the scheduler, it has. */
static bool is_in_procedure(const struct agent_cursor *cursor)
{
    uint32_t i;
    struct agent_frame frame;
    if (!find_frame(cursor, is_in_scheduler, &i))
        return true;
    i++;
    if (host->path_frame(cursor, i, &frame) && is_in(runtime.root, frame.pc))
        i++;
    if (host->path_frame(cursor, i, &frame) && is_claimed_as(IMPORT, frame.pc))
        i++;
    return is_procedure(cursor, i);
}

/* -------- at a sample -------- */

/* A thread that is no worker is the runtime's while it is in its functions: the initial thread
 * waits there for the workers. */
static enum agent_thread_status class_of_other(const struct agent_cursor *cursor)
{
    uint32_t i;
    return find_frame(cursor, is_in_runtime, &i) ? AGENT_RUNTIME_OWNED : AGENT_FOREIGN;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct slot *slot = cursor->thread_data;
    if (!runtime.is_known || slot->is_strange)
        return AGENT_FOREIGN;
    if (!slot->context)
        return class_of_other(cursor);
    struct running running = find_running(cursor);
    if (!running.closure)
        return AGENT_IDLE;
    if (!is_consistent(cursor, running.worker)) {
        slot->is_strange = true;
        return AGENT_FOREIGN;
    }
    uint64_t base = find_base(cursor, running);
    if (!base || !is_in_procedure(cursor))
        return AGENT_IDLE;
    cursor->state[IS_WORKER] = true;
    cursor->state[CLOSURE] = agent_u64(host, cursor, base + CLOSURE_PARENT);
    cursor->state[SITE] = site_of(cursor, base);
    return AGENT_WORKING;
}

/* A worker works while its deque has a bottom that it runs. */
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
    uint64_t its = parameters(cursor);
    if (!its)
        return counts;
    counts.workers = agent_u32(host, cursor, its + PARAMETERS_WORKERS);
    counts.working = runtime.working
                         ? agent_u32(host, cursor, runtime.working)
                         : count_working(cursor, agent_u64(host, cursor, its + PARAMETERS_DEQUES),
                                         counts.workers);
    return counts;
}

/* -------- bichords -------- */

/* The root, which has no parent, is the runtime's own. */
static bool has_lnote(const struct agent_cursor *cursor)
{
    uint64_t closure = cursor->state[CLOSURE];
    return closure && agent_u64(host, cursor, closure + CLOSURE_PARENT);
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    uint64_t *state = cursor->state;
    if (!state[IS_WORKER]) {
        state[NATIVE] = frame->pc;
        return AGENT_1_1;
    }
    if (state[BELOW])
        return AGENT_M_0;
    if (!is_in_scheduler(frame->pc)) {
        /* Its locks, its memory; but the procedure may be inlined into its import. */
        cursor->include_libc = is_in_runtime(frame->pc);
        return AGENT_1_0;
    }
    state[BELOW] = true;
    return has_lnote(cursor) ? AGENT_1_M : AGENT_1_0;
}

/* What is outside the scheduler is the runtime's. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

static bool step_native(struct agent_cursor *cursor, struct agent_lnote *note)
{
    uint64_t pc = cursor->state[NATIVE];
    *note = (struct agent_lnote){.space = AGENT_CODE, .value = pc, .site = pc};
    cursor->state[NATIVE] = 0;
    return true;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    if (cursor->state[NATIVE])
        return step_native(cursor, note);
    if (!has_lnote(cursor))
        return false;
    uint64_t closure = cursor->state[CLOSURE];
    uint64_t frame = agent_u64(host, cursor, closure + CLOSURE_FRAME);
    uint64_t signature = agent_u64(host, cursor, frame + FRAME_SIGNATURE);
    *note = (struct agent_lnote){.space = AGENT_CODE,
                                 .value = agent_u64(host, cursor, signature + SIGNATURE_SLOW),
                                 .site = cursor->state[SITE]};
    cursor->state[SITE] = site_of(cursor, closure);
    cursor->state[CLOSURE] = agent_u64(host, cursor, closure + CLOSURE_PARENT);
    return note->value != 0;
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "cilk5",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct slot),
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
