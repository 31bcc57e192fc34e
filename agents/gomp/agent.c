/* The agent for libgomp, the OpenMP runtime of gcc.
 *
 * libgomp has no interface for tools. This library is preloaded, and interposes the functions that
 * the compiler calls: regions.c, tasks.c and waits.c. They keep in the thread's slot
 * (common/thread-slots.h) whether it works or is idle, and links from bodies of constructs to the
 * calling contexts of these constructs (body-links.h). This file reads them at samples.
 *
 * Bichords are those of common/trampoline-frames.h; below run_task the M-0 one also has the construct
 * in which the thread waited for tasks.
 *
 * Claims: the modules of libgomp and of this library, and with a tag of its own the section of this
 * library with the functions that call bodies. */
#include "agents/agent.h"

#include "agents/common/linked-runtime.h"
#include "agents/common/loaded-modules.h"
#include "agents/common/missing-bodies.h"
#include "agents/common/team-waits.h"
#include "agents/common/trampoline-frames.h"
#include "agents/gomp/task-events.h"
#include "agents/gomp/team-starts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct agent_host *host;

/* Threads that libgomp has, or will have before it has created any. */
static _Atomic uint32_t configured;
_Atomic bool has_created_threads;

static bool start(const struct agent_host *agent_host)
{
    host = path_agent.host = agent_host;
    return true;
}

/* -------- modules -------- */

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
    if (is_initial && program_needs("libgomp."))
        slot_join(slot_mine(), RUNTIME_GOMP);
}

/* While the library is pinned. */
static void add_runtime(const struct agent_module *module)
{
    struct gomp_functions *functions = gomp_copy_of(module->start);
    if (!functions)
        return;
    if (!functions->is_traced) {
        host->refuse(&hpcrun_agent, functions->why_not_traced);
        return;
    }
    const struct agent_claim code = {module->start, module->end, CLAIM_RUNTIME};
    host->claim(&hpcrun_agent, &code, 1);
    if (host->tasks && !task_events_report(functions, host->tasks))
        host->log("work and span: only one copy of libgomp is measured");
    uint32_t threads = (uint32_t)functions->get_max_threads();
    if (threads > atomic_load(&configured))
        atomic_store(&configured, threads);
    count_initial_thread();
}

static void module_added(const struct agent_module *module)
{
    struct pinned_module library;
    if (!module->path[0]) {
        check_program(module);
    } else if (!trampolines_claim(module) && is_libgomp(module) &&
               module_pin(module->start, module->path, &library)) {
        add_runtime(module);
        module_unpin(&library);
    }
}

static void module_removed(const struct agent_module *module)
{
    missing_bodies_forget();
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
    struct agent_slot *slot = slot_mine();
    slot->pool = RUNTIME_GOMP;
    slot_set_state(slot, AGENT_SLOT_IDLE);
    slot_join(slot, RUNTIME_GOMP);
    atomic_store(&has_created_threads, true);
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    enum agent_thread_status status = slot_status(RUNTIME_GOMP);
    if (status == AGENT_FOREIGN)
        return status;
    struct trampoline_state *state = cursor->state;
    const struct agent_slot *slot = slot_own();
    state->path.link = (uint64_t)slot->gomp.link;
    if (works_at_team_start(host, cursor))
        return AGENT_WORKING;
    if (status != AGENT_IDLE || !slot_takes_task(host, cursor, slot, RUNTIME_GOMP))
        return status;
    /* At the end of a region, which goes on as long as there are tasks. */
    state->last_context = slot->gomp.link ? 0 : (uint64_t)slot->gomp.kept;
    return AGENT_WORKING;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    struct slot_counts counts = slots_count(host->slots, RUNTIME_GOMP);
    uint32_t workers = counts.pool + counts.others;
    uint32_t least = atomic_load_explicit(&has_created_threads, memory_order_relaxed)
                         ? 0
                         : atomic_load_explicit(&configured, memory_order_relaxed);
    uint32_t taking = slots_that_take_tasks(host, cursor, RUNTIME_GOMP);
    return (struct agent_worker_counts){.workers = workers > least ? workers : least,
                                        .working = counts.working + taking +
                                                   works_at_team_start(host, cursor)};
}

/* -------- bichords -------- */

struct path_agent path_agent = {
    .agent = &hpcrun_agent, .tag = CLAIM_TRAMPOLINES, .link_in = trampoline_link_in};

/* It is not deterministic in the sense of agent.h: it reads the thread's slot. */
const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "gomp",
    .version = "1.0",
    .state_bytes = sizeof(struct trampoline_state),
    .marks_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .thread_begin = thread_begin,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = trampoline_step_bichord,
    .step_pnote = creator_path_has_frame,
    .step_lnote = creator_path_next,
};
