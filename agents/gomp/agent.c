/* The agent for libgomp, the OpenMP runtime of gcc.
 *
 * libgomp has no interface for tools. This library is preloaded, and interposes the functions that
 * the compiler calls: regions.c, tasks.c and waits.c. They keep in the thread's slot
 * (common/thread-slots.h) whether it works or waits, and links from bodies of constructs to the
 * calling contexts of these constructs (omp-links.h). This file reads them at samples.
 *
 * A stack, innermost frame first, and its bichords:
 *
 *     frames                                          bichord
 *     code of the program                             native
 *     libgomp, a wrapper of this library              1-0, or M-0 with functions of libc
 *     run_region or run_task                          1-M: the path to the construct, from its
 *                                                     creator's stack or from a copy of that
 *     libgomp ... the thread's start                  M-0; below run_task also the construct in
 *                                                     which the thread waited for tasks
 *
 * In the master of a region, and in a task that runs in its GOMP_task call, the frames outside of
 * run_region or run_task are those that began the construct: these bichords are 1-0.
 *
 * Claims: the modules of libgomp and of this library, and with a tag of its own the section of this
 * library with the functions that call bodies. */
#include "agents/agent.h"

#include "agents/common/linked-runtime.h"
#include "agents/gomp/gomp-copies.h"
#include "agents/gomp/omp-links.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct agent_host *host;

/* Tags of claims. */
enum { RUNTIME, TRAMPOLINES };

#define HIDDEN __attribute__((visibility("hidden")))
extern const char trampolines_start[] __asm__("__start_hpctoolkit_trampolines") HIDDEN;
extern const char trampolines_end[] __asm__("__stop_hpctoolkit_trampolines") HIDDEN;

/* cursor->state */
enum {
    LINK,     /* address of the innermost link that the walk has not passed; 0: none */
    REPLACED, /* whether the path outside of the last bichord was replaced */
    PC,       /* pc, sp and bp of the next l-note's frame; pc 0: no more l-notes */
    SP,
    BP,
    NOTE_LINK, /* address of the innermost link around that frame; 0: none */
    CONTEXT,   /* address of the context in whose copy the frame is; 0: on a stack */
};

/* Threads that libgomp has, or will have before it has created any. */
static _Atomic uint32_t configured;
static _Atomic bool has_created_threads;

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    return host->interface == AGENT_INTERFACE;
}

/* -------- modules -------- */

static bool is_in_module(const struct agent_module *module, const void *address)
{
    return (uint64_t)address >= module->start && (uint64_t)address < module->end;
}

static void claim_own_code(const struct agent_module *module)
{
    uint64_t from = (uint64_t)trampolines_start, to = (uint64_t)trampolines_end;
    const struct agent_claim claims[] = {
        {module->start, from, RUNTIME}, {from, to, TRAMPOLINES}, {to, module->end, RUNTIME}};
    host->claim(&hpcrun_agent, claims, sizeof claims / sizeof *claims);
}

static void find_linked_runtime(const struct symbol *symbol, void *found)
{
    if (symbol->is_function && strcmp(symbol->name, "GOMP_parallel") == 0)
        *(bool *)found = true;
}

/* A program that libgomp is linked into calls it directly. */
static void check_program(const struct agent_module *module)
{
    bool found = false;
    if (symbols_visit(module->path, find_linked_runtime, &found) && found)
        host->refuse(&hpcrun_agent, "libgomp is linked into the program (-static or libgomp.a), so "
                                    "its calls cannot be observed");
}

/* Whether a library is libgomp by its name, also if a Python package has renamed its copy
 * (libgomp-a34b3233.so.1.0.0). */
static bool is_libgomp(const struct agent_module *module)
{
    const char *slash = strrchr(module->path, '/'), *name = slash ? slash + 1 : module->path;
    return strncmp(name, "libgomp.so", 10) == 0 || strncmp(name, "libgomp-", 8) == 0;
}

/* The initial thread is a worker from the start if the program itself is linked to libgomp: until
 * its first region, it keeps the others waiting. */
static void count_initial_thread(void)
{
    bool is_initial = (int)syscall(SYS_gettid) == getpid();
    if (is_initial && gomp_program_is_linked())
        slot_join(slot_mine(), RUNTIME_GOMP);
}

static void add_runtime(const struct agent_module *module)
{
    const struct gomp_functions *functions = gomp_copy_of(module->path);
    if (!functions)
        return;
    if (!functions->is_traced) {
        host->refuse(&hpcrun_agent, gomp_why_not_traced(functions));
        return;
    }
    const struct agent_claim code = {module->start, module->end, RUNTIME};
    host->claim(&hpcrun_agent, &code, 1);
    uint32_t threads = (uint32_t)functions->get_max_threads();
    if (threads > atomic_load(&configured))
        atomic_store(&configured, threads);
    count_initial_thread();
}

static void module_added(const struct agent_module *module)
{
    if (!module->path[0])
        check_program(module);
    else if (is_in_module(module, trampolines_start))
        claim_own_code(module);
    else if (is_libgomp(module))
        add_runtime(module);
}

static void module_removed(const struct agent_module *module)
{
    gomp_forget_module(module->start, module->end);
}

/* -------- threads -------- */

/* A thread of libgomp waits until it gets a region's function. */
static void thread_begin(void *thread_data, int tid, struct agent_start_routine routine)
{
    (void)thread_data;
    (void)tid;
    const struct gomp_functions *functions = gomp_copy_at(routine.function);
    if (!functions || !functions->is_traced)
        return;
    struct thread_slot *slot = slot_mine();
    slot_set_state(slot, THREAD_WAITS);
    slot_join(slot, RUNTIME_GOMP);
    atomic_store(&has_created_threads, true);
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    const struct thread_slot *slot = slot_existing();
    if (!slot || slot == slots_surplus() || !slot_is_of(slot, RUNTIME_GOMP))
        return AGENT_FOREIGN;
    cursor->state[LINK] = (uint64_t)slot->gomp_link;
    return slot_state(slot) == THREAD_WORKS ? AGENT_WORKING : AGENT_IDLE;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    (void)cursor;
    struct slot_counts counts = slots_count(RUNTIME_GOMP);
    uint32_t least = atomic_load_explicit(&has_created_threads, memory_order_relaxed)
                         ? 0
                         : atomic_load_explicit(&configured, memory_order_relaxed);
    return (struct agent_worker_counts){.workers = counts.workers > least ? counts.workers : least,
                                        .working = counts.working};
}

/* -------- l-notes: the path outside of a construct -------- */

#define FIELD(structure, address, field)                                                           \
    agent_u64(host, cursor, (address) + offsetof(struct structure, field))

static uint64_t context_field(const struct agent_cursor *cursor, uint64_t context, size_t offset)
{
    return agent_u64(host, cursor, context + offset);
}
#define CONTEXT_FIELD(context, field)                                                              \
    context_field(cursor, context, offsetof(struct omp_context, field))

/* An address on the creator's stack that a copy has: its place there; else the address. */
static uint64_t moved(const struct agent_cursor *cursor, uint64_t context, uint64_t address)
{
    uint64_t low = CONTEXT_FIELD(context, low), high = CONTEXT_FIELD(context, high);
    return address >= low && address < high ? address - low + CONTEXT_FIELD(context, copy)
                                            : address;
}

/* The next l-note is the frame that began the construct of this context; none if it is 0. */
static void continue_in(struct agent_cursor *cursor, uint64_t context)
{
    uint64_t *state = cursor->state;
    uint64_t kind = context ? CONTEXT_FIELD(context, kind) : CONTEXT_ON_STACK;
    state[PC] = context ? CONTEXT_FIELD(context, pc) - 1 : 0;
    state[SP] = context ? CONTEXT_FIELD(context, sp) : 0;
    state[BP] = context ? CONTEXT_FIELD(context, bp) : 0;
    state[NOTE_LINK] = context && kind == CONTEXT_ON_STACK ? CONTEXT_FIELD(context, up) : 0;
    state[CONTEXT] = kind == CONTEXT_ON_STACK ? 0 : context;
    if (kind == CONTEXT_COPY) {
        state[SP] = moved(cursor, context, state[SP]);
        state[BP] = moved(cursor, context, state[BP]);
    }
}

static bool is_in_copy(const struct agent_cursor *cursor, uint64_t context, uint64_t sp)
{
    uint64_t copy = CONTEXT_FIELD(context, copy);
    uint64_t bytes = CONTEXT_FIELD(context, high) - CONTEXT_FIELD(context, low);
    return CONTEXT_FIELD(context, kind) == CONTEXT_COPY && sp >= copy && sp < copy + bytes;
}

/* The innermost link at or outside of an address, on one stack. */
static uint64_t link_from(const struct agent_cursor *cursor, uint64_t link, uint64_t sp)
{
    while (link && FIELD(omp_link, link, sp) < sp)
        link = FIELD(omp_link, link, up);
    return link;
}

/* No frame of run_region or run_task is larger. */
#define TRAMPOLINE_FRAME 512

/* The link in a frame of a function that calls bodies; 0: it has none at this instant. */
static uint64_t link_in(const struct agent_cursor *cursor, uint64_t first,
                        const struct agent_frame *frame)
{
    uint64_t link = link_from(cursor, first, frame->sp);
    return link && FIELD(omp_link, link, sp) < frame->sp + TRAMPOLINE_FRAME ? link : 0;
}

/* One step in a copy. False: the frame is outside of it, so its context's parent continues. */
static bool step_in_copy(struct agent_cursor *cursor, struct agent_frame *frame)
{
    uint64_t context = cursor->state[CONTEXT];
    if (!is_in_copy(cursor, context, frame->sp) || !host->step(cursor, frame))
        return false;
    frame->sp = moved(cursor, context, frame->sp);
    frame->bp = moved(cursor, context, frame->bp);
    return is_in_copy(cursor, context, frame->sp);
}

/* One step on a stack, not a copy. At the end of a construct that another thread began, the path
 * continues in its context: *context is then set. */
static bool step_on_stack(struct agent_cursor *cursor, struct agent_frame *frame, uint64_t *context)
{
    struct agent_claim claim;
    uint64_t *state = cursor->state;
    if (!host->step(cursor, frame))
        return false;
    bool calls_body =
        host->find_claim(&hpcrun_agent, frame->pc, &claim) && claim.tag == TRAMPOLINES;
    uint64_t link = calls_body ? link_in(cursor, state[NOTE_LINK], frame) : 0;
    if (!link)
        return true;
    state[NOTE_LINK] = FIELD(omp_link, link, up);
    if (!FIELD(omp_link, link, is_inline))
        *context = FIELD(omp_link, link, context);
    return true;
}

/* Moves to the next frame outwards, which may be libgomp's. */
static void step_outwards(struct agent_cursor *cursor)
{
    uint64_t *state = cursor->state, context = 0;
    struct agent_frame frame = {state[PC], state[SP], state[BP]};
    bool more =
        state[CONTEXT] ? step_in_copy(cursor, &frame) : step_on_stack(cursor, &frame, &context);
    if (state[CONTEXT] && !more) {
        continue_in(cursor, CONTEXT_FIELD(state[CONTEXT], parent));
        return;
    }
    if (context) {
        continue_in(cursor, context);
        return;
    }
    state[PC] = more ? frame.pc : 0;
    state[SP] = frame.sp;
    state[BP] = frame.bp;
}

static bool is_hidden(uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim);
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    enum { MOST_HIDDEN = 256 }; /* frames in a row; a bound for a damaged stack */
    uint64_t *state = cursor->state;
    for (int i = 0; i < MOST_HIDDEN && state[PC] && is_hidden(state[PC]); i++)
        step_outwards(cursor);
    if (!state[PC])
        return false;
    *note = (struct agent_lnote){.space = AGENT_CODE, .value = state[PC], .site = state[PC]};
    step_outwards(cursor);
    return true;
}

/* -------- bichords -------- */

static enum agent_association begin_construct(struct agent_cursor *cursor,
                                              const struct agent_frame *frame)
{
    uint64_t *state = cursor->state, link = link_in(cursor, state[LINK], frame);
    uint64_t context = link ? FIELD(omp_link, link, context) : 0;
    state[LINK] = link ? FIELD(omp_link, link, up) : state[LINK];
    if (!context || FIELD(omp_link, link, is_inline))
        return AGENT_1_0;
    continue_in(cursor, context);
    state[REPLACED] = true;
    return AGENT_1_M;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct agent_claim claim = {0};
    if (cursor->state[REPLACED])
        return AGENT_M_0;
    host->find_claim(&hpcrun_agent, frame->pc, &claim);
    if (claim.tag == TRAMPOLINES)
        return begin_construct(cursor, frame);
    cursor->include_libc = true;
    return AGENT_1_0;
}

/* All frames outside of a path that was replaced belong to its bichord. */
static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}

/* It is not deterministic in the sense of agent.h: it reads the thread's slot. */
const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "gomp",
    .version = "1.0",
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
