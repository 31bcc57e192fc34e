/* The agent for LLVM's OpenMP runtime, libomp.
 *
 * libomp announces what its threads do to a tool (tool.c). The agent keeps of it in the thread's slot
 * whether it works or waits, and links from bodies of constructs to the calling contexts of these
 * constructs (events.c). This file reads them at samples.
 *
 * A stack, innermost frame first, and its bichords:
 *
 *     frames                                          bichord
 *     code of the program                             native
 *     libomp, or an event of this library             1-0, with functions of libc that they call
 *     libomp at the task's exit frame                 1-M: the path to the construct, from its
 *                                                     creator's stack or from a copy of that
 *     libomp ... the thread's start                   M-0
 *
 * In the master of a region, and in a task that is not deferred, the frames outside are those that
 * began the construct: there, all frames of libomp are 1-0. If the body has no frame
 * (common/missing-bodies.h), it is the innermost l-note of the frame that called it: such bichords
 * are 1-1 or 1-M. */
#include "agents/agent.h"

#include "agents/common/creator-paths.h"
#include "agents/common/linked-runtime.h"
#include "agents/common/loaded-modules.h"
#include "agents/common/missing-bodies.h"
#include "agents/common/ready-tasks.h"
#include "agents/openmp/body-code.h"
#include "agents/openmp/events.h"
#include "agents/openmp/scopes.h"
#include "agents/openmp/span-events.h"
#include "agents/openmp/tool.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct agent_host *host;

static void refuse(const char *why)
{
    host->refuse(&hpcrun_agent, why);
}

/* Any context. Whether an address is in libomp, or in this library. */
static bool is_runtime(const void *address)
{
    struct agent_claim found;
    return host->find_claim(&hpcrun_agent, (uint64_t)address, &found);
}

static bool start(const struct agent_host *agent_host)
{
    host = path_agent.host = agent_host;
    tool_on_refusal(refuse);
    body_code_begin(is_runtime);
    span_events_begin(host->tasks, is_runtime);
    return true;
}

/* -------- modules -------- */

/* Threads that libomp will have, before it has created any. Asking libomp would initialize it, and
 * the program may still set its environment. */
static uint32_t configured_threads(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    long threads = wanted ? strtol(wanted, NULL, 10) : 0;
    cpu_set_t cpus;
    if (threads <= 0 && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        threads = CPU_COUNT(&cpus);
    return threads > 0 ? (uint32_t)threads : 1;
}

static _Atomic uint32_t configured;

static void find_linked_runtime(const struct symbol *symbol, void *found)
{
    if (symbol->is_function && strcmp(symbol->name, "__kmpc_fork_call") == 0)
        *(bool *)found = true;
}

/* A tool must be known when libomp starts: libomp in the program finds only the program's own. */
static void check_program(const struct agent_module *module)
{
    bool found = false;
    if (symbols_visit(module->path, find_linked_runtime, &found) && found)
        refuse("libomp is linked into the program, so it takes no tool from elsewhere");
}

static bool is_libomp(const struct agent_module *module)
{
    static const char *const names[] = {"libomp.so", "libomp5.so", "libiomp5.so", "libomp-"};
    const char *slash = strrchr(module->path, '/'), *name = slash ? slash + 1 : module->path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The initial thread is a worker from the start if the program itself is linked to libomp: until its
 * first region, it keeps the others waiting. */
static void count_initial_thread(void)
{
    bool is_initial = (int)syscall(SYS_gettid) == getpid();
    if (is_initial && (program_needs("libomp") || program_needs("libiomp5")))
        slot_join(slot_mine(), RUNTIME_OMPT);
}

static void claim(const struct agent_module *module)
{
    const struct agent_claim code = {module->start, module->end, 0};
    host->claim(&hpcrun_agent, &code, 1);
}

static void add_runtime(const struct agent_module *module)
{
    struct pinned_module libomp;
    if (!module_pin(module->start, module->path, &libomp))
        return;
    const char *why = tool_why_not(libomp.library);
    events_learn_libomp(libomp.map->l_ld, libomp.map->l_addr);
    module_unpin(&libomp);
    if (why) {
        refuse(why);
        return;
    }
    claim(module);
    atomic_store(&configured, configured_threads());
    count_initial_thread();
}

static void module_added(const struct agent_module *module)
{
    uint64_t own = (uint64_t)module_added;
    if (!module->path[0])
        check_program(module);
    else if (own >= module->start && own < module->end)
        claim(module);
    else if (is_libomp(module))
        add_runtime(module);
    body_code_forget();
}

static void module_removed(const struct agent_module *module)
{
    (void)module;
    missing_bodies_forget();
    body_code_forget();
}

/* -------- threads -------- */

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    enum agent_thread_status status = tool_refusal() ? AGENT_FOREIGN : slot_status(RUNTIME_OMPT);
    if (status == AGENT_FOREIGN)
        return status;
    struct path_state *state = cursor->state;
    const struct agent_slot *slot = slot_own();
    state->link = (uint64_t)slot->ompt.link;
    bool is_busy = status == AGENT_IDLE && slot_takes_task(host, cursor, slot, RUNTIME_OMPT);
    return is_busy ? AGENT_WORKING : status;
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    struct slot_counts counts = slots_count(host->slots, RUNTIME_OMPT);
    uint32_t workers = counts.pool + counts.others;
    uint32_t least =
        events_have_threads() ? 0 : atomic_load_explicit(&configured, memory_order_relaxed);
    return (struct agent_worker_counts){
        .workers = workers > least ? workers : least,
        .working = counts.working + slots_that_take_tasks(host, cursor, RUNTIME_OMPT)};
}

/* -------- bichords -------- */

static uint64_t exit_frame_of(const struct agent_cursor *cursor, uint64_t link)
{
    uint64_t task_frame = agent_u64(host, cursor, link + offsetof(struct scope, frame));
    return task_frame ? agent_u64(host, cursor, task_frame + offsetof(ompt_frame_t, exit_frame))
                      : 0;
}

/* Whether a frame of libomp is the one that has set this frame pointer. Most functions of libomp set
 * none, so those that the body calls may have the same one. */
static bool calls_body(const struct agent_cursor *cursor, const struct agent_frame *frame,
                       uint64_t exit_frame)
{
    struct agent_frame caller = *frame;
    return exit_frame && frame->bp == exit_frame && host->step(cursor, &caller) &&
           caller.sp > exit_frame;
}

/* The frame of libomp that calls a task's body has the task's exit frame in its frame pointer. Before
 * libomp has set that, and at the task's end, no frame of the body is on the stack: a path that
 * continues elsewhere does so from the next frame of libomp. */
static uint64_t link_in(const struct agent_cursor *cursor, uint64_t first,
                        const struct agent_frame *frame)
{
    for (uint64_t link = first; link; link = LINK_FIELD(link, up)) {
        uint64_t exit_frame = exit_frame_of(cursor, link);
        if (calls_body(cursor, frame, exit_frame))
            return link;
        if (!LINK_FIELD(link, is_inline))
            return !exit_frame || frame->sp > exit_frame ? link : 0;
    }
    return 0;
}

struct path_agent path_agent = {.agent = &hpcrun_agent, .link_in = link_in};

/* The body of a link, if the frame in question calls it, but seems to have called another function;
 * else 0. */
static uint64_t missing_body_in(const struct agent_cursor *cursor, uint64_t link,
                                const struct agent_frame *frame)
{
    struct agent_frame callee;
    return frame->bp == exit_frame_of(cursor, link) && host->callee(cursor, &callee)
               ? creator_path_missing(cursor, LINK_FIELD(link, body), callee.pc)
               : 0;
}

static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct path_state *state = cursor->state;
    if (state->is_replaced)
        return AGENT_M_0;
    uint64_t link = link_in(cursor, state->link, frame);
    state->link = link ? LINK_FIELD(link, up) : state->link;
    state->body = link ? missing_body_in(cursor, link, frame) : 0;
    if (link && !LINK_FIELD(link, is_inline) && LINK_FIELD(link, context)) {
        creator_path_begin(cursor, LINK_FIELD(link, context));
        state->is_replaced = true;
        return AGENT_1_M;
    }
    if (state->body)
        return AGENT_1_1;
    cursor->include_libc = true;
    return AGENT_1_0;
}

/* It is not deterministic in the sense of agent.h: it reads the thread's slot. */
const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "openmp",
    .version = "1.0",
    .state_bytes = sizeof(struct path_state),
    .marks_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .unwind_begin = unwind_begin,
    .worker_counts = worker_counts,
    .step_bichord = step_bichord,
    .step_pnote = creator_path_has_frame,
    .step_lnote = creator_path_next,
};
