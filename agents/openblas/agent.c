/* The agent for OpenBLAS with threads of its own. (A build with OpenMP has none: its work is in regions of OpenMP.)
 *
 * A stack of such a thread, innermost frame first, and its bichords:
 *
 *     frames                                          bichord
 *     routine of the BLAS, of the queue               native
 *     the thread's start routine                      1-M: the path to the call of OpenBLAS that it works for
 *     the thread's start                              M-0
 *
 * A queue does not say who made it. But while a thread executes a routine, its caller's call has not ended. So if one
 * thread of the program has such a call (blas-calls.h), it is that; if several have, paths are native.
 *
 * The threads are plain ones, whose waiting the agent for threads knows: the agent marks none. */
#include "agents/agent.h"

#include "agents/common/creator-paths.h"
#include "agents/openblas/blas-calls.h"
#include "agents/openblas/blas-functions.h"

static const struct agent_host *host;

struct thread_data {
    uint64_t routine;    /* the library's, with which the thread began; 0: the thread is not the library's */
    uint64_t start, end; /* of the library */
};

static bool start(const struct agent_host *agent_host)
{
    host = path_agent.host = agent_host;
    return true;
}

static bool is_in(uint64_t address, uint64_t low, uint64_t high)
{
    return address >= low && address < high;
}

/* This library's functions are between the library's. */
static void module_added(const struct agent_module *module)
{
    const struct agent_claim code = {module->start, module->end, 0};
    blas_add_module(module->start);
    if (blas_copy_at(module->start) || is_in((uint64_t)start, module->start, module->end))
        host->claim(&hpcrun_agent, &code, 1);
}

static void module_removed(const struct agent_module *module)
{
    blas_forget_module(module->start, module->end);
}

static void thread_begin(void *thread_data, int tid, struct agent_start_routine routine)
{
    struct thread_data *data = thread_data;
    const struct runtime_copy *copy = blas_copy_at(routine.function);
    (void)tid;
    *data = copy ? (struct thread_data){routine.function, copy->start, copy->end} : (struct thread_data){0};
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    blas_forget_left_call(cursor);
    return AGENT_FOREIGN;
}

static bool executes_routine(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    const struct thread_data *data = cursor->thread_data;
    struct agent_frame callee;
    return data->routine && host->function(cursor, frame->pc) == data->routine && host->callee(cursor, &callee) &&
           is_in(callee.pc, data->start, data->end);
}

static enum agent_association step_bichord(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct path_state *state = cursor->state;
    const struct thread_data *data = cursor->thread_data;
    struct agent_claim own;
    bool is_own = host->find_claim(&hpcrun_agent, frame->pc, &own) && is_in((uint64_t)start, own.start, own.end);
    if (is_own)
        return AGENT_1_0;
    uint64_t call = executes_routine(cursor, frame) ? blas_only_call(host->slots, data->start, data->end) : 0;
    if (!call)
        return AGENT_NATIVE;
    creator_path_begin(cursor, call);
    state->body = agent_u64(host, cursor, call + offsetof(struct creation_context, body));
    cursor->replaces_callers = true;
    return AGENT_1_M;
}

/* No agent: the frames of a call in claimed code are shown, too. */
struct path_agent path_agent = {.agent = NULL};

const struct agent hpcrun_agent = {
    .interface = AGENT_INTERFACE,
    .name = "openblas",
    .version = "1.0",
    .thread_data_bytes = sizeof(struct thread_data),
    .state_bytes = sizeof(struct path_state),
    .marks_threads = true,
    .has_plain_threads = true,
    .start = start,
    .module_added = module_added,
    .module_removed = module_removed,
    .thread_begin = thread_begin,
    .unwind_begin = unwind_begin,
    .step_bichord = step_bichord,
    .step_lnote = creator_path_next,
};
