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
 *
 * Imports are the functions through which C code, here the root's, starts a Cilk procedure. The
 * compiler makes one for each procedure f and names it _cilk_f_import, as it names f's slow clone
 * _cilk_f_slow; nothing else tells them, and no other name that it makes of f ends so. A program's
 * own function could only be taken for one if its name began with _cilk_, too, which belongs to the
 * compiler.
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

#include "agents/cilk5/exports.h"
#include "agents/cilk5/layout.h"
#include "agents/common/linked-runtime.h"
#include "agents/common/symbols.h"

#include "runtime-patches/cilk5/description.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static const struct agent_host *host;

struct range {
    uint64_t begin, end;
};

/* Marks of claims. */
enum { RUNTIME, IMPORT };

/* Of the one runtime in the process; zeros while there is none. Set in normal context before its
 * code is claimed. */
static struct runtime {
    struct range scheduler, child_main, root;
    uint64_t module;          /* where the module begins that it is in */
    uint64_t working;         /* address of the count of workers that work; 0: not patched */
    uint64_t site_in_closure; /* offset of the spawn site; 0: not patched */
    _Atomic bool is_known;    /* set last: handlers of other threads run meanwhile */
} runtime;

/* The dynamic linker, which runs at a first call: the one code that the runtime's functions call
 * without its being theirs or a procedure. */
static struct range linker;

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

static bool is_in(struct range range, uint64_t pc)
{
    return pc >= range.begin && pc < range.end;
}

/* -------- modules -------- */

static bool is_in_runtime(uint64_t pc)
{
    struct agent_claim claim;
    return host->claimed(&hpcrun_agent, pc, &claim) && claim.mark == RUNTIME;
}

/* What the symbols of one module say. */
struct reading {
    const struct agent_module *module;
    struct runtime found;
    bool has_mark;
    uint64_t description; /* address of the patch's; 0: there is none */
    struct agent_claim *imports;
    size_t import_count;
};

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* _cilk_<procedure>_import, which the compiler makes for calls from C, is no user's code. */
static bool is_import(const struct symbol *symbol)
{
    return symbol->is_function && symbol->size > 0 && strncmp(symbol->name, "_cilk_", 6) == 0 &&
           ends_with(symbol->name, "_import");
}

static void add_import(struct reading *reading, struct range range)
{
    struct agent_claim *more =
        realloc(reading->imports, (reading->import_count + 1) * sizeof *more);
    if (!more)
        return;
    more[reading->import_count++] = (struct agent_claim){range.begin, range.end, IMPORT};
    reading->imports = more;
}

static void see_symbol(const struct symbol *symbol, void *data)
{
    struct reading *reading = data;
    const char *name = symbol->name;
    uint64_t begin = symbol->address + reading->module->bias;
    struct range range = {begin, begin + symbol->size};
    if (strcmp(name, LAYOUT_MARK) == 0)
        reading->has_mark = true;
    else if (strcmp(name, "Cilk_scheduler") == 0)
        reading->found.scheduler = range;
    else if (strcmp(name, "Cilk_child_main") == 0)
        reading->found.child_main = range;
    else if (strcmp(name, "invoke_main_slow") == 0)
        reading->found.root = range;
    else if (strcmp(name, "hpctoolkit_cilk5") == 0 &&
             symbol->size == sizeof(struct hpctoolkit_cilk5))
        reading->description = begin;
    else if (is_import(symbol))
        add_import(reading, range);
}

static void learn_patch(uint64_t address)
{
    const struct hpctoolkit_cilk5 *description = (const void *)address;
    if (!description)
        return;
    if (description->magic != HPCTOOLKIT_CILK5_MAGIC || description->size != sizeof *description) {
        host->log("cilk5: the runtime's patch is not the agent's: spawn sites are not known");
        return;
    }
    runtime.working = address + offsetof(struct hpctoolkit_cilk5, working);
    runtime.site_in_closure = description->site_in_closure;
}

/* A library is the runtime's as a whole, of a program only the functions that were linked in are;
 * where threads start is a static one, which may lie before those that are known by name. */
static void claim_runtime(const struct agent_module *module)
{
    struct agent_claim whole = {module->start, module->end, RUNTIME};
    struct agent_claim child_main = {runtime.child_main.begin, runtime.child_main.end, RUNTIME};
    if (module->path[0]) {
        host->claim(&hpcrun_agent, &whole, 1);
        return;
    }
    size_t count;
    struct agent_claim *parts = linked_runtime(module, cilk5_exports, RUNTIME, &count);
    if (parts)
        host->claim(&hpcrun_agent, parts, count);
    if (parts && !is_in_runtime(child_main.start))
        host->claim(&hpcrun_agent, &child_main, 1);
    free(parts);
}

static void learn_runtime(const struct reading *reading)
{
    const struct runtime *found = &reading->found;
    if (!reading->has_mark || !found->child_main.end || !found->root.end) {
        host->log(reading->has_mark
                      ? "cilk5: the runtime was stripped: native call paths"
                      : "cilk5: the runtime is not Cilk-5.4.6 in its default build: native call "
                        "paths");
        return;
    }
    runtime = *found;
    runtime.module = reading->module->start;
    learn_patch(reading->description);
    atomic_store(&runtime.is_known, true);
    claim_runtime(reading->module);
}

static void module_added(const struct agent_module *module)
{
    struct reading reading = {.module = module};
    if (module->start == getauxval(AT_BASE))
        linker = (struct range){module->start, module->end};
    symbols_visit(module->path, see_symbol, &reading);
    if (reading.found.scheduler.end && !runtime.is_known)
        learn_runtime(&reading);
    if (reading.import_count > 0)
        host->claim(&hpcrun_agent, reading.imports, reading.import_count);
    free(reading.imports);
}

static void module_removed(const struct agent_module *module)
{
    if (runtime.is_known && runtime.module == module->start)
        runtime = (struct runtime){0};
}

/* -------- threads -------- */

static bool start(const struct agent_host *its)
{
    host = its;
    return host->interface == AGENT_INTERFACE;
}

static void thread_begin(void *memory, int tid, struct agent_origin origin)
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
        host->log("cilk5: the runtime's structures are not those of Cilk-5.4.6: native call paths");
}

/* -------- the runtime's structures -------- */

/* The runtime's parameters; 0 when there is no computation. */
static uint64_t parameters(const struct agent_cursor *cursor)
{
    const struct slot *slot = cursor->slot;
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
    const struct slot *slot = cursor->slot;
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
    const struct slot *slot = cursor->slot;
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
    for (*index = 0; host->path(cursor, *index, &frame); ++*index)
        if (is_so(frame.pc))
            return true;
    return false;
}

/* Whether frame i is there and a procedure's. */
static bool is_procedure(const struct agent_cursor *cursor, uint32_t i)
{
    struct agent_frame frame;
    return host->path(cursor, i, &frame) && !is_in_runtime(frame.pc) && !is_in(linker, frame.pc);
}

/* Whether the scheduler has called a slow clone, or the root's has called, through the import of
 * the user's procedure, that procedure. When the path doesn't reach the scheduler, it has. */
static bool is_in_procedure(const struct agent_cursor *cursor)
{
    uint32_t i;
    struct agent_frame frame;
    if (!find_frame(cursor, is_in_scheduler, &i))
        return true;
    if (host->path(cursor, i + 1, &frame) && is_in(runtime.root, frame.pc))
        return is_procedure(cursor, i + 2) && is_procedure(cursor, i + 3);
    return is_procedure(cursor, i + 1);
}

/* -------- at a sample -------- */

/* A thread that is no worker is the runtime's while it is in its functions: the initial thread
 * waits there for the workers. */
static enum agent_thread class_of_other(const struct agent_cursor *cursor)
{
    uint32_t i;
    return find_frame(cursor, is_in_runtime, &i) ? AGENT_OWNED : AGENT_FOREIGN;
}

static enum agent_thread begin(struct agent_cursor *cursor)
{
    struct slot *slot = cursor->slot;
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

static struct agent_counts counts(struct agent_cursor *cursor)
{
    struct agent_counts counts = {0};
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
    if (!is_in_scheduler(frame->pc))
        return AGENT_1_0;
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
    .slot_bytes = sizeof(struct slot),
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .thread_begin = thread_begin,
    .thread_end = thread_end,
    .begin = begin,
    .counts = counts,
    .step_bichord = step_bichord,
    .step_pnote = step_pnote,
    .step_lnote = step_lnote,
};
