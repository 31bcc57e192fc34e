/* The agent for oneTBB, libtbb.so.12.
 *
 * oneTBB has no interface for tools. This library is preloaded, and interposes the functions of
 * libtbb that the headers call: tbb-tasks.c. They keep in the thread's slot (common/thread-slots.h)
 * whether it runs a task or is idle, and links from running tasks to their calling contexts
 * (task-contexts.h). This file reads them at samples. The bichords are those of
 * common/trampoline-frames.h.
 *
 * A thread of libtbb's pool works while it runs a task, and while it takes the next one from its own
 * queue (task-queues.h). Another thread that has called TBB works outside of TBB's calls, too; while
 * it waits there, say in pthread_join, it is no worker.
 *
 * Claims: the modules of libtbb and of this library. */
#include "agents/agent.h"

#include "agents/common/loaded-modules.h"
#include "agents/common/trampoline-frames.h"
#include "agents/tbb/task-contexts.h"
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
    if (host->dag)
        host->dag->cannot_tell("oneTBB does not report them");
    return true;
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
    tbb_join(slot_mine());
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        atomic_store(&configured, (uint32_t)CPU_COUNT(&cpus));
}

static void module_added(const struct agent_module *module)
{
    if (trampolines_claim(module) || !is_libtbb(module))
        return;
    const struct agent_claim code = {module->start, module->end, CLAIM_RUNTIME};
    host->claim(&hpcrun_agent, &code, 1);
    tbb_add_module(module->start);
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
    struct agent_slot *slot = slot_mine();
    slot->pool = RUNTIME_TBB;
    slot_set_state(slot, AGENT_SLOT_IDLE);
    tbb_join(slot);
    slot->tbb.arrived = let_go(NULL);
    atomic_store(&has_created_threads, true);
}

/* Whether the call in which the thread waits is about to return. The call may have ended by now:
 * its memory is read through the host. */
static bool is_wait_over(const struct agent_cursor *cursor, const struct agent_slot *slot)
{
    uint64_t wait = (uint64_t)slot->tbb.own, references;
    return wait && host->read(cursor, wait + offsetof(struct tbb_wait, references), &references, sizeof references) &&
           references == 0;
}

/* Whether a thread is busy in libtbb: it takes the next task from its own queue, or its wait is
 * over. In a region of OpenMP it is idle for that. */
static bool is_between_tasks(const struct agent_cursor *cursor, const struct agent_slot *slot)
{
    return slot_state(slot) == AGENT_SLOT_IDLE && !slot->gomp.link && !slot->ompt.link &&
           (queue_length(slot) || is_wait_over(cursor, slot));
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    enum agent_thread_status status = slot_status(RUNTIME_TBB);
    if (status == AGENT_FOREIGN)
        return status;
    struct trampoline_state *state = cursor->state;
    struct agent_slot *slot = slot_own();
    state->path.link = (uint64_t)slot->tbb.link;
    if (status != AGENT_IDLE || !is_between_tasks(cursor, slot))
        return status;
    struct task_record *kept = slot->tbb.link ? NULL : record_kept(slot);
    state->last_context = kept ? (uint64_t)task_of(kept)->context : 0;
    return AGENT_WORKING;
}

static uint32_t count_between_tasks(const struct agent_cursor *cursor)
{
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire), count = 0;
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(host->slots, i);
        count += slot_serves(slot, RUNTIME_TBB) && is_between_tasks(cursor, slot);
    }
    return count;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    struct slot_counts counts = slots_count(host->slots, RUNTIME_TBB);
    uint32_t between = count_between_tasks(cursor);
    uint32_t limit = atomic_load_explicit(&tbb_thread_limit, memory_order_relaxed);
    if (!atomic_load_explicit(&has_created_threads, memory_order_relaxed) && counts.others) {
        uint32_t all = atomic_load_explicit(&configured, memory_order_relaxed);
        counts.pool = all > counts.others ? all - counts.others : 0;
    }
    if (limit && counts.pool >= limit)
        counts.pool = limit - 1;
    return (struct agent_worker_counts){.workers = counts.pool + counts.others,
                                        .working = counts.working + between};
}

/* -------- bichords -------- */

struct path_agent path_agent = {
    .agent = &hpcrun_agent, .tag = CLAIM_TRAMPOLINES, .link_in = trampoline_link_in};

/* It is not deterministic in the sense of agent.h: it reads the thread's slot. */
const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "tbb",
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
