/* Signal handler: find_claim, is_claimed, read_memory, path_frame, callee, function, frame_end, name,
 * name_thread, step and owner run there.
 *
 * The services of hpcrun for agents: struct agent_host (agents/agent.h). */
#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/logical/agent-names.h"
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/logical/stack-owner.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <string.h>

static bool claim(const struct agent *agent, const struct agent_claim *claims, size_t count)
{
    unsigned index = agents_index(agent);
    return index < MAX_AGENTS && claims_add(index, claims, count);
}

static bool find_claim(const struct agent *agent, uint64_t pc, struct agent_claim *found)
{
    return claims_find(agents_index(agent), pc, found);
}

static bool is_claimed(uint64_t pc)
{
    return claims_agent(pc) >= 0;
}

static void log_line(const char *line)
{
    char buffer[1024];
    struct text text = TEXT(buffer);
    text_add(&text, line);
    report_log(&text);
}

/* An agent that does not serve its runtime does not mark that one's threads. */
static void refuse(const struct agent *agent, const char *why)
{
    if (why && !agent->is_for_threads && !agent->has_plain_threads)
        atomic_store(&agents.hide_threads, true);
    if (why)
        refusals_add(agent->name, why);
    else
        refusals_withdraw(agent->name);
}

static void warn(const struct agent *agent, const char *what)
{
    char buffer[1024];
    struct text line = TEXT(buffer);
    text_add(&line, "agent ");
    text_add(&line, agent->name);
    text_add(&line, ": ");
    text_add(&line, what);
    report_loss(&line);
}

static void set_lock(const struct agent *agent, const struct agent_lock *lock)
{
    (void)agent;
    atomic_store(&agent_lock, lock);
}

/* An agent follows pointers and counts that it reads. If the runtime was unloaded, these are whatever is
 * there now, and a loop over them may take minutes. So what an agent may read at a sample is limited, in
 * words; then the agent is left where it is, and the thread is foreign or its path native. A worker
 * takes an agent some 3 words, an ancestor of a stolen procedure 3, so it suffices for 30,000 of them; a
 * frame of Python 10, so for more than a path may have. Takes at most 1.5 ms. */
#define STEP_WORDS 8

static void spend(struct agent_query *query, int32_t words)
{
    struct guard *guard = &query->unwinder->guard;
    query->budget -= words;
    if (query->budget < 0 && guard->active)
        guard_exit(guard);
}

#define WORDS_AT_ONCE 16
#define WORDS_FOR_ONE 8 /* words in a row that take as long as one alone */

/* Aligned words never cross a page. */
static bool read_words(struct agent_query *query, uint64_t address, uint64_t *to, size_t words)
{
    spend(query, (int32_t)words / WORDS_FOR_ONE + 1);
    if (!memory_load_words(&query->unwinder->memory, address, to, words)) {
        answer_invalidate(&query->answers);
        spend(query, MEMORY_FAULT_WORDS);
        return false;
    }
    for (size_t i = 0; i < words && answer_is_recorded(&query->answers); i++)
        answer_add_read(&query->answers, address + 8 * i, 8, to[i]);
    return true;
}

/* A field of a runtime lies within one aligned word, so the whole word is loaded: it never crosses
 * a page. Only such reads are cached. */
static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct agent_query *query = cursor->host_private;
    struct memory *memory = &query->unwinder->memory;
    uint64_t word, offset = address % sizeof word;
    if (size % sizeof word == 0 && offset == 0 && size && size <= WORDS_AT_ONCE * sizeof word)
        return read_words(query, address, to, size / sizeof word);
    if (size == 0 || offset + size > sizeof word) {
        answer_invalidate(&query->answers);
        spend(query, (int32_t)(size / sizeof word) + 1);
        return memory_read_guarded(memory, address, to, size);
    }
    if (!memory_load(memory, address - offset, &word)) {
        answer_invalidate(&query->answers);
        spend(query, MEMORY_FAULT_WORDS);
        return false;
    }
    spend(query, 1);
    word >>= 8 * offset;
    memcpy(to, &word, size);
    answer_add_read(&query->answers, address, size, word);
    return true;
}

static bool path_frame(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame)
{
    struct agent_query *query = cursor->host_private;
    const struct unwinder *u = query->unwinder;
    if (i >= u->depth) {
        answer_add_depth(&query->answers, u->depth);
        return false;
    }
    answer_add_frame(&query->answers, i);
    *frame = (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
    return true;
}

static bool callee(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    struct agent_query *query = cursor->host_private;
    struct unwinder *u = query->unwinder;
    uint32_t i = query->frame + 1;
    if (!path_frame(cursor, i, frame))
        return false;
    return !unwind_hidden(u, &u->path[i]) && !unwind_is_signal(u, &u->path[i]);
}

static uint64_t function(const struct agent_cursor *cursor, uint64_t pc)
{
    const struct agent_query *query = cursor->host_private;
    return rule_cache_function(query->unwinder->cache, pc);
}

/* The result of a step depends on the words that gave the caller, or on the frame's rule alone. */
static void add_step(struct agent_query *query, const struct frame *frame,
                     const struct frame *caller, bool stepped)
{
    if (!stepped) {
        if (!unwind_outermost(query->unwinder, frame))
            answer_invalidate(&query->answers);
    } else if (frame->link == LINK_IRREGULAR) {
        answer_invalidate(&query->answers);
    } else {
        answer_add_read(&query->answers, caller->sp - 8, 8, caller->pc + 1);
        if (frame->link != LINK_BP_SAME)
            answer_add_read(&query->answers, caller->sp + (uint64_t)frame->link, 8, caller->bp);
    }
}

/* Skips hpcrun's own frames, which start threads: they do not belong to paths. */
static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    struct agent_query *query = cursor->host_private;
    struct unwinder *u = query->unwinder;
    struct frame from = {.pc = frame->pc, .sp = frame->sp, .bp = frame->bp}, caller = {0};
    do {
        spend(query, STEP_WORDS);
        bool stepped = unwind_caller(u, &from, &caller);
        add_step(query, &from, &caller, stepped);
        if (!stepped)
            return false;
        from = caller;
    } while (unwind_hidden(u, &from));
    *frame = (struct agent_frame){from.pc, from.sp, from.bp};
    return true;
}

/* In a path the caller is the next frame; hpcrun's own ones count, too. */
static uint64_t frame_end(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_query *query = cursor->host_private;
    const struct unwinder *u = query->unwinder;
    const struct frame *at = &u->path[query->frame];
    struct agent_frame caller = *frame;
    if (query->frame > 0 && at->sp == frame->sp && at->pc == frame->pc) {
        answer_add_frame(&query->answers, query->frame - 1);
        return u->path[query->frame - 1].sp;
    }
    return step(cursor, &caller) ? caller.sp : 0;
}

/* The name is a part of the answer, and what it depends on was read. */
static uint64_t name(const struct agent_cursor *cursor, const struct agent_name *its)
{
    struct agent_query *query = cursor->host_private;
    unsigned index = (unsigned)(cursor - query->cursor);
    struct memory own = {.guard = MEMORY_GUARD_ARMED};
    return agent_names_number(index, its, its->is_own ? &own : &query->unwinder->memory);
}

static void name_thread(const struct agent_cursor *cursor, const struct agent_text *text)
{
    struct agent_query *query = cursor->host_private;
    agent_names_copy(text, &query->unwinder->memory, query->thread_name, sizeof query->thread_name);
}

/* Answers depend on it, but it is not compared. */
static uint64_t owner(const struct agent_cursor *cursor, uint64_t address)
{
    struct agent_query *query = cursor->host_private;
    answer_invalidate(&query->answers);
    return stack_owner_of(address).thread;
}

static bool is_caught(const struct agent_cursor *cursor)
{
    const struct agent_query *query = cursor->host_private;
    return query->unwinder->memory.elsewhere->is_caught();
}

/* Where agents report the events of their runtimes; NULL: they do not. */
static const struct agent_dag *dag;
static const struct agent_tasks *tasks;

void host_observe_dag(const struct agent_dag *events)
{
    dag = events;
}

void host_observe_tasks(const struct agent_tasks *events)
{
    tasks = events;
}

const struct agent_host *host_for_agents(void)
{
    static struct agent_host host = {
        .claim = claim,
        .find_claim = find_claim,
        .is_claimed = is_claimed,
        .log = log_line,
        .refuse = refuse,
        .warn = warn,
        .set_lock = set_lock,
        .read = read_memory,
        .path_frame = path_frame,
        .callee = callee,
        .function = function,
        .frame_end = frame_end,
        .name = name,
        .name_thread = name_thread,
        .slots = &slots,
        .step = step,
        .stack_owner = owner,
        .is_caught = is_caught,
    };
    host.is_elsewhere = process.config.is_outside;
    host.dag = dag;
    host.tasks = tasks;
    return &host;
}
