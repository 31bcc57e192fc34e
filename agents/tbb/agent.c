/* The agent for oneTBB, libtbb.so.12.
 *
 * oneTBB has no interface for tools. This library is preloaded, and interposes the functions of
 * libtbb that the headers call: tbb-tasks.c. They keep in the thread's slot (common/thread-slots.h)
 * whether it runs a task or waits, and links from running tasks to their calling contexts
 * (task-contexts.h). This file reads them at samples. The bichords are those of
 * common/trampoline-frames.h.
 *
 * A thread of libtbb's pool waits whenever it runs no task. Another thread that has called TBB works
 * outside of TBB's calls, too; while it blocks there, say in pthread_join, it is no worker: hpcrun's
 * slot of the thread says so (agents/agent.h).
 *
 * Claims: the modules of libtbb and of this library. */
#include "agents/agent.h"

#include "agents/common/dynamic-entries.h"
#include "agents/common/trampoline-frames.h"
#include "agents/tbb/tbb-copies.h"
#include "agents/tbb/thread-limit.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct agent_host *host;

/* Threads that libtbb will have before it has created any; 0: no such program. */
static _Atomic uint32_t configured;
static _Atomic bool has_created_threads;

static bool start(const struct agent_host *agent_host)
{
    host = path_agent.host = agent_host;
    return host->interface == AGENT_INTERFACE;
}

/* -------- modules -------- */

static bool is_libtbb(const struct agent_module *module)
{
    const char *slash = strrchr(module->path, '/'), *name = slash ? slash + 1 : module->path;
    return strncmp(name, "libtbb.so.12", 12) == 0 || strncmp(name, "libtbb-", 7) == 0;
}

/* Threads join with their first call; the initial one from the start if the program itself is linked
 * to libtbb: until that call, it keeps the others waiting. */
static void count_initial_thread(void)
{
    cpu_set_t cpus;
    if ((int)syscall(SYS_gettid) != getpid() || !program_needs("libtbb.so.12"))
        return;
    struct thread_slot *slot = slot_mine();
    slot_join(slot, RUNTIME_TBB);
    slot->tbb.own = host->own_slot();
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        atomic_store(&configured, (uint32_t)CPU_COUNT(&cpus));
}

static void module_added(const struct agent_module *module)
{
    if (trampolines_claim(module) || !is_libtbb(module))
        return;
    const struct agent_claim code = {module->start, module->end, CLAIM_RUNTIME};
    host->claim(&hpcrun_agent, &code, 1);
    tbb_add_module(module->path);
    count_initial_thread();
}

static void module_removed(const struct agent_module *module)
{
    tbb_forget_module(module->start, module->end);
}

/* -------- threads -------- */

static void thread_begin(void *thread_data, int tid, struct agent_start_routine routine)
{
    (void)thread_data;
    (void)tid;
    if (!tbb_has_code_at(routine.function))
        return;
    struct thread_slot *slot = slot_mine();
    slot->pool = RUNTIME_TBB;
    slot->tbb.own = host->own_slot();
    slot_set_state(slot, THREAD_WAITS);
    slot_join(slot, RUNTIME_TBB);
    atomic_store(&has_created_threads, true);
}

/* Whether a thread is in a call of libc that waits. */
static bool is_blocked(const struct thread_slot *slot)
{
    const struct agent_slot *own = slot->tbb.own;
    return own && atomic_load_explicit(&own->state, memory_order_relaxed) == AGENT_SLOT_WAITING;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    struct thread_slot *slot = slot_existing();
    if (!slot || slot == slots_surplus() || !slot_serves(slot, RUNTIME_TBB))
        return AGENT_FOREIGN;
    cursor->state[LINK] = (uint64_t)slot->tbb.link;
    slot->tbb.own = host->own_slot();
    if (slot_state(slot) != THREAD_WORKS)
        return AGENT_IDLE;
    return is_blocked(slot) ? AGENT_WAITING : AGENT_WORKING;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    (void)cursor;
    uint32_t used = atomic_load_explicit(&hpctoolkit_thread_slots_used, memory_order_relaxed);
    uint32_t pool = 0, others = 0, working = 0;
    for (uint32_t i = 0; i < used; i++) {
        const struct thread_slot *slot = &hpctoolkit_thread_slots[i];
        if (!slot_serves(slot, RUNTIME_TBB))
            continue;
        bool works = slot_state(slot) == THREAD_WORKS, blocked = works && is_blocked(slot);
        bool is_of_pool = slot->pool == RUNTIME_TBB;
        bool is_absent = blocked && !is_of_pool && !slot->tbb.link;
        pool += is_of_pool;
        others += !is_of_pool && !is_absent;
        working += works && !blocked;
    }
    uint32_t limit = atomic_load_explicit(&tbb_thread_limit, memory_order_relaxed);
    if (!atomic_load_explicit(&has_created_threads, memory_order_relaxed) && others) {
        uint32_t all = atomic_load_explicit(&configured, memory_order_relaxed);
        pool = all > others ? all - others : 0;
    }
    if (limit && pool >= limit)
        pool = limit - 1;
    return (struct agent_worker_counts){.workers = pool + others, .working = working};
}

/* -------- bichords -------- */

struct path_agent path_agent = {
    .agent = &hpcrun_agent, .tag = CLAIM_TRAMPOLINES, .link_in = trampoline_link_in};

/* It is not deterministic in the sense of agent.h: it reads the thread's slot. */
const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "tbb",
    .version = "1.0",
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
