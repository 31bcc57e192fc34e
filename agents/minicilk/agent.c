/* The agent for minicilk (runtime-patches/minicilk). minicilk-introspect.h describes the lifetimes
 * and the order of changes in the runtime's memory, which make the agent's answers exact at any
 * instant.
 *
 * A worker's stack, innermost frame first:
 *
 *     frames                                       bichord
 *     the program's procedures and functions       native code
 *     functions of the runtime that procedures     1-0, or M-0 with the functions of libc that they
 *       call (slow paths of spawn and sync)        call
 *     cilk_call_base                               1-M: the ancestors of the worker's base frame,
 *                                                  from the heap; in a thread that did not start
 *                                                  the computation also the stack of the one that
 *                                                  did
 *     the scheduler ... the thread's start         M-0; in the thread that started the computation
 *                                                  1-0 each, and its callers are native */
#include "agents/agent.h"

#include "agents/common/loaded-modules.h"
#include "agents/common/published-copy.h"
#include "agents/minicilk/minicilk-observer.h"
#include "runtime-patches/minicilk/minicilk-introspect.h"

#include <stdatomic.h>

static const struct agent_host *host;

/* The one runtime in the process; NULL as long as there was none. */
static _Atomic(const struct minicilk_introspection *) known_runtime;
static _Atomic bool is_known; /* it is loaded */

static const struct minicilk_introspection *runtime(void)
{
    return atomic_load_explicit(&known_runtime, memory_order_acquire);
}

struct thread_data {
    uint32_t guess; /* the thread's index among the workers at the last sample */
};

/* cursor->state */
struct state {
    uint64_t worker;    /* address of the thread's worker; 0: no worker */
    bool is_first;      /* this is worker 0, which started the computation */
    bool is_below_base; /* the walk is past cilk_call_base */
    uint64_t frame;     /* the next l-note is the parent of this heap frame; 0: it is `caller` */
    struct agent_frame caller; /* a frame of the caller; pc 0: no more l-notes */
};

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    return true;
}

static void learn(const struct minicilk_introspection *found)
{
    if (found->magic != MINICILK_MAGIC || found->layout != MINICILK_LAYOUT ||
        found->size != sizeof *found) {
        host->refuse(&hpcrun_agent, "the program's version is not known to the agent");
        return;
    }
    static struct published_copy *copies;
    const void *copy = published_copy(&copies, found, sizeof *found);
    if (!copy)
        return;
    atomic_store(&known_runtime, copy);
    atomic_store(&is_known, true);
    if (host->dag)
        minicilk_observe(host, copy);
    const struct agent_claim code[] = {
        {(uint64_t)runtime()->text_begin, (uint64_t)runtime()->text_end, 0},
        {(uint64_t)runtime()->base_begin, (uint64_t)runtime()->base_end, 0}};
    host->claim(&hpcrun_agent, code, sizeof code / sizeof *code);
}

/* The note holds the distance from itself to the runtime's description. */
static void module_added(const struct agent_module *module)
{
    int64_t distance;
    struct pinned_module pinned;
    if (!module->note || module->note_bytes != sizeof distance || is_known ||
        !module_pin(module->start, module->path, &pinned))
        return;
    __builtin_memcpy(&distance, module->note, sizeof distance);
    uint64_t description = module->note_address + (uint64_t)distance;
    if (is_in_range(description, pinned.range))
        learn((const void *)description);
    module_unpin(&pinned);
}

static void module_removed(const struct agent_module *module)
{
    uint64_t code = is_known ? (uint64_t)runtime()->text_begin : 0;
    if (code >= module->start && code < module->end)
        atomic_store(&is_known, false);
}

#define LIVE(field) ((uint64_t)runtime()->live + offsetof(struct minicilk_live, field))

/* -------- threads -------- */

static bool is_worker(const struct agent_cursor *cursor, uint64_t worker)
{
    return (int)agent_u32(host, cursor, worker + runtime()->worker_tid) == cursor->tid;
}

/* The address of this thread's worker and its index; 0: no worker. */
static uint64_t find_worker(const struct agent_cursor *cursor, uint32_t *index)
{
    struct thread_data *data = cursor->thread_data;
    uint64_t workers = agent_u64(host, cursor, LIVE(workers));
    uint32_t n = workers ? agent_u32(host, cursor, LIVE(n)) : 0;
    for (uint32_t i = 0; i < n; i++) {
        *index = (data->guess + i) % n;
        uint64_t worker = workers + (uint64_t)*index * runtime()->worker_size;
        if (is_worker(cursor, worker)) {
            data->guess = *index;
            return worker;
        }
    }
    return 0;
}

/* Whether this is the slot of a thread with this tid. */
static bool is_slot_of(const struct agent_cursor *cursor, uint32_t slot, int tid)
{
    const struct agent_slot *its = agent_slot_at(host->slots, slot);
    return (int)agent_u32(host, cursor, (uint64_t)&its->tid) == tid &&
           agent_u32(host, cursor, (uint64_t)&its->state) != AGENT_SLOT_FREE;
}

/* The slot of a worker's thread; NULL: it has none. */
static const struct agent_slot *slot_of(const struct agent_cursor *cursor, uint64_t worker,
                                        uint32_t index)
{
    static _Atomic uint32_t guesses[256]; /* slots in which workers were found */
    _Atomic uint32_t *guess = &guesses[index % 256];
    int tid = (int)agent_u32(host, cursor, worker + runtime()->worker_tid);
    uint32_t end = agent_u32(host, cursor, (uint64_t)&host->slots->end);
    uint32_t first = atomic_load_explicit(guess, memory_order_relaxed);
    for (uint32_t i = 0; i < end; i++) {
        uint32_t slot = (first + i) % end;
        if (!is_slot_of(cursor, slot, tid))
            continue;
        atomic_store_explicit(guess, slot, memory_order_relaxed);
        return agent_slot_at(host->slots, slot);
    }
    return NULL;
}

/* Whether a worker waits in a function of libc that the program has called. Its slot says so, but
 * not what it does in the runtime: sleeping workers wait in libc, too. */
static bool waits_in_libc(const struct agent_cursor *cursor, uint64_t worker, uint32_t index)
{
    const struct agent_slot *its = slot_of(cursor, worker, index);
    return its && agent_u32(host, cursor, (uint64_t)&its->state) == AGENT_SLOT_WAITING;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    uint32_t index = 0;
    if (!atomic_load_explicit(&is_known, memory_order_acquire))
        return AGENT_FOREIGN;
    state->worker = find_worker(cursor, &index);
    state->is_first = index == 0;
    if (!state->worker)
        return AGENT_FOREIGN;
    if (agent_u32(host, cursor, state->worker + runtime()->worker_state) == MINICILK_SCHEDULING)
        return AGENT_IDLE;
    return waits_in_libc(cursor, state->worker, index) ? AGENT_WAITING : AGENT_WORKING;
}

/* Counts the workers in a state that wait in libc. */
static uint32_t count_waiting(const struct agent_cursor *cursor, uint64_t workers, uint32_t n,
                              enum minicilk_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t worker = workers + (uint64_t)i * runtime()->worker_size;
        count += agent_u32(host, cursor, worker + runtime()->worker_state) == state &&
                 waits_in_libc(cursor, worker, i);
    }
    return count;
}

/* Worker 0 works outside of computations: it executes the program's serial code. While it waits
 * there, say in pthread_join, it is no worker. */
static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    uint64_t workers = agent_u64(host, cursor, LIVE(workers));
    uint32_t n = workers ? agent_u32(host, cursor, LIVE(n)) : 0;
    uint32_t working = agent_u32(host, cursor, LIVE(n_w));
    if (working) {
        uint32_t waiting = count_waiting(cursor, workers, n, MINICILK_WORKING);
        return (struct agent_worker_counts){.workers = n,
                                            .working = working > waiting ? working - waiting : 0};
    }
    bool is_outside =
        n && agent_u32(host, cursor, workers + runtime()->worker_state) == MINICILK_OUTSIDE;
    bool is_absent = is_outside && count_waiting(cursor, workers, 1, MINICILK_OUTSIDE);
    return (struct agent_worker_counts){.workers = n - is_absent,
                                        .working = is_outside && !is_absent};
}

/* -------- bichords -------- */

static bool is_in(uint64_t pc, const char *begin, const char *end)
{
    return pc >= (uint64_t)begin && pc < (uint64_t)end;
}

/* The caller's frames are on the stack of worker 0's thread. */
static void continue_in_caller(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    uint64_t pc = state->is_first ? 0 : agent_u64(host, cursor, LIVE(caller_pc));
    const struct agent_slot *caller =
        pc ? slot_of(cursor, agent_u64(host, cursor, LIVE(workers)), 0) : NULL;
    cursor->owner = caller ? agent_u64(host, cursor, (uint64_t)&caller->thread) : 0;
    state->frame = 0;
    state->caller = (struct agent_frame){pc ? pc - 1 : 0, agent_u64(host, cursor, LIVE(caller_sp)),
                                         agent_u64(host, cursor, LIVE(caller_bp))};
}

/* The bichord of cilk_call_base; prepares its l-notes. */
static enum agent_association begin_base(struct agent_cursor *cursor)
{
    struct state *state = cursor->state;
    state->is_below_base = true;
    state->frame =
        state->worker ? agent_u64(host, cursor, state->worker + runtime()->worker_base) : 0;
    if (!state->frame)
        return AGENT_1_0;
    if (!agent_u64(host, cursor, state->frame + runtime()->frame_parent))
        continue_in_caller(cursor);
    return state->frame || state->caller.pc ? AGENT_1_M : AGENT_1_0;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    const struct state *state = cursor->state;
    if (is_in(frame->pc, runtime()->base_begin, runtime()->base_end))
        return begin_base(cursor);
    cursor->include_callees = !state->is_below_base;
    return state->is_below_base && !state->is_first ? AGENT_M_0 : AGENT_1_0;
}

/* All frames outside the scheduler's in a thread of the runtime are the runtime's. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

static bool step_ancestor(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    uint64_t site = agent_u64(host, cursor, state->frame + runtime()->frame_site) - 1;
    *note = (struct agent_lnote){.space = AGENT_CODE, .value = site, .site = site};
    state->frame = agent_u64(host, cursor, state->frame + runtime()->frame_parent);
    if (!state->frame || !agent_u64(host, cursor, state->frame + runtime()->frame_parent))
        continue_in_caller(cursor);
    return true;
}

static bool step_caller(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    *note = agent_native_note(&state->caller);
    if (!host->step(cursor, &state->caller))
        state->caller.pc = 0;
    return true;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    const struct state *state = cursor->state;
    if (state->frame)
        return step_ancestor(cursor, note);
    return state->caller.pc && step_caller(cursor, note);
}

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "minicilk",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct thread_data),
    .state_bytes = sizeof(struct state),
    .deterministic = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = step_bichord,
    .step_pnote = step_pnote,
    .step_lnote = step_lnote,
};
