/* The agent for plain threads: those that pthread_create, thrd_create and std::thread make. It is a
 * part of libhpcrun.so, so it needs no file at run time, e.g. in a sandbox.
 *
 * Tallent and Mellor-Crummey, PPoPP 2009, section 2.1: the workers are the program's threads; n is
 * the number of threads or of CPUs, whichever is smaller. A thread works unless it waits or sleeps.
 * Its slot says so (agents/agent-slots.h): hpcrun's wrappers of waiting calls write it.
 *
 * Beside a runtime whose agent marks its threads in their slots (OpenMP, oneTBB), the workers are the
 * other threads. A thread that calls such a runtime is the runtime's from then on.
 */
#include "agents/common/thread-slots.h"

#include <string.h>

static const struct agent_host *host;

/* Runtimes whose threads spin, or wait by system calls of their own: they would count as working.
 * The agent serves no process with one of them that no other agent serves. */
static const struct {
    const char *module, *why;
} others[] = {
    {"libgomp.so", "threads of GCC's OpenMP wait in code of their own, so idleness is not known"},
    {"libomp.so", "threads of LLVM's OpenMP spin while they wait, so idleness is not known"},
    {"libiomp5.so", "threads of Intel's OpenMP spin while they wait, so idleness is not known"},
};
/* Start addresses of the loaded ones; 0: a free place. A process may have two with the same name. */
static uint64_t other_starts[16];
static _Atomic unsigned others_loaded;

static bool start(const struct agent_host *agent_host)
{
    host = agent_host;
    return true;
}

/* Puts `to` in the place of `from`; false: there is no `from`. */
static bool replace_start(uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < sizeof other_starts / sizeof *other_starts; i++)
        if (other_starts[i] == from) {
            other_starts[i] = to;
            return true;
        }
    return false;
}

static void module_added(const struct agent_module *module)
{
    const char *slash = strrchr(module->path, '/'), *base = slash ? slash + 1 : module->path;
    if (host->is_claimed(module->start)) /* hpcrun announces modules to this agent after others */
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(base, others[i].module, strlen(others[i].module)) == 0) {
            atomic_fetch_add(&others_loaded, replace_start(0, module->start));
            host->refuse(&agent_for_threads, others[i].why);
        }
}

static void module_removed(const struct agent_module *module)
{
    if (replace_start(module->start, 0) && atomic_fetch_sub(&others_loaded, 1) == 1)
        host->refuse(&agent_for_threads, NULL);
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    (void)cursor;
    const struct agent_slot *slot = hpctoolkit_own_slot();
    if (!slot || !slot_is_plain(slot) || atomic_load_explicit(&others_loaded, memory_order_relaxed))
        return AGENT_FOREIGN;
    return slot_state(slot) == AGENT_SLOT_WORKING ? AGENT_WORKING : AGENT_WAITING;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    (void)cursor;
    struct agent_worker_counts counts = {0};
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire);
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(host->slots, i);
        enum agent_slot_state state = slot_state(slot);
        bool is_worker = state != AGENT_SLOT_FREE && slot_is_plain(slot);
        counts.workers += is_worker;
        counts.working += is_worker && state == AGENT_SLOT_WORKING;
    }
    return counts;
}

/* All frames are native: the agent claims no code. */
static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return AGENT_1_0;
}

const struct agent agent_for_threads = {
    .interface = AGENT_INTERFACE,
    .name = "pthread",
    .version = "1.0",
    .is_for_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = step_bichord,
};
