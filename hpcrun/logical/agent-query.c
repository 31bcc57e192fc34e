#include "hpcrun/logical/agent-query.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/logical/stack-owner.h"

#include <string.h>

/* As many as physical paths have frames. What does not fit is cut off at the outer end. */
#define MAX_BICHORDS UNWIND_MAX_FRAMES
#define MAX_LNOTES   UNWIND_MAX_FRAMES

static struct agent_frame frame_of(const struct unwinder *u, uint32_t i)
{
    return (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
}

/* The answer to the current question depends on this agent: it can't be reused if the agent is not
 * deterministic. */
static void require_deterministic(struct answer_cache *answers, const struct agent *agent)
{
    if (!agent->deterministic)
        answer_invalidate(answers);
}

/* ---- the thread's status ---- */

/* False without memory for the agent's thread data; cursor->host_private is NULL then, and the
 * agent is not called at this sample. */
static bool begin_cursor(struct agent_query *query, unsigned index)
{
    struct agent_cursor *cursor = &query->cursor[index];
    const struct unwinder *u = query->unwinder;
    size_t bytes = agents.at[index]->thread_data_bytes;
    if (bytes && !cursor->thread_data)
        cursor->thread_data = sys_pages(bytes);
    cursor->tid = query->tid;
    cursor->stack_low = u->stack_low;
    cursor->stack_high = u->stack_high;
    cursor->leaf = u->depth ? frame_of(u, u->depth - 1) : (struct agent_frame){0};
    cursor->hint = u->memory.elsewhere ? u->memory.elsewhere->hint : 0;
    cursor->host_private = bytes && !cursor->thread_data ? NULL : query;
    cursor->state = memset(&query->state[index], 0, agents.at[index]->state_bytes);
    return cursor->host_private != NULL;
}

/* The agent for plain threads is not asked where these are not known: all threads outside of the
 * other agents' runtimes are foreign. */
static bool is_silent(const struct agent *agent)
{
    return agent->is_for_threads &&
           atomic_load_explicit(&agents.hide_threads, memory_order_relaxed);
}

/* Asks one agent for the thread's status. Saves the state that it sets: its answers for the path
 * depend on that, too. */
static enum agent_thread_status ask_status_of(struct agent_query *query, unsigned index)
{
    struct agent_cursor *cursor = &query->cursor[index];
    enum agent_thread_status kind = AGENT_FOREIGN;
    require_deterministic(&query->answers, agents.at[index]);
    if (begin_cursor(query, index) && !is_silent(agents.at[index]))
        kind = agents.at[index]->unwind_begin(cursor);
    size_t bytes = agents.at[index]->state_bytes;
    if (memcmp(&query->begin_state[index], cursor->state, bytes) != 0) {
        memcpy(&query->begin_state[index], cursor->state, bytes);
        query->answers.answer[QUESTION_PATH].is_complete = false;
    }
    return kind;
}

/* The status is that of the first agent that knows the thread. */
static void ask_status(struct agent_query *query, unsigned count)
{
    answer_begin(&query->answers, QUESTION_STATUS);
    query->status = (struct thread_status){.kind = AGENT_FOREIGN};
    for (unsigned i = 0; i < count; i++) {
        enum agent_thread_status kind = ask_status_of(query, i);
        if (kind != AGENT_FOREIGN && query->status.kind == AGENT_FOREIGN)
            query->status = (struct thread_status){.kind = kind, .agent = i};
    }
    query->cursors_begun = true;
}

/* Restores the cursors to their state after unwind_begin, if that was not called at this sample. */
static void restore_cursors(struct agent_query *query)
{
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);
    for (unsigned i = 0; i < count && !query->cursors_begun; i++) {
        begin_cursor(query, i);
        memcpy(&query->state[i], &query->begin_state[i], agents.at[i]->state_bytes);
    }
    query->cursors_begun = true;
}

static void ask_counts(struct agent_query *query)
{
    struct thread_status *status = &query->status;
    const struct agent *agent = agents.at[status->agent];
    restore_cursors(query);
    answer_begin(&query->answers, QUESTION_COUNTS);
    require_deterministic(&query->answers, agent);
    status->counts = (struct agent_worker_counts){0};
    if (status->kind != AGENT_FOREIGN && agent->worker_counts)
        status->counts = agent->worker_counts(&query->cursor[status->agent]);
}

const struct thread_status *agent_query_status(struct agent_query *query, struct unwinder *u,
                                               int tid)
{
    struct answer_cache *answers = &query->answers;
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);
    uint32_t epoch = atomic_load_explicit(&agents.epoch, memory_order_acquire);
    if (count == 0)
        return &query->status;
    if (answers->epoch != epoch)
        answer_cache_clear(answers);
    answers->epoch = epoch;
    query->unwinder = u;
    query->tid = tid;
    query->cursors_begun = false;
    query->budget = AGENT_BUDGET;
    if (guard_enter(&u->guard) == 0) {
        if (!answer_is_valid(answers, QUESTION_STATUS, u))
            ask_status(query, count);
        if (query->cursors_begun || !answer_is_valid(answers, QUESTION_COUNTS, u))
            ask_counts(query);
        guard_leave(&u->guard);
    } else {
        answer_cache_clear(answers);
        query->status = (struct thread_status){.kind = AGENT_FOREIGN};
    }
    return &query->status;
}

/* ---- the path ---- */

static bool has_several_pnotes(enum agent_association association)
{
    return association == AGENT_M_0 || association == AGENT_M_1;
}

static bool has_lnotes(enum agent_association association)
{
    return association != AGENT_1_0 && association != AGENT_M_0;
}

/* Whether there is room for one more bichord; makes room if possible. */
static bool has_room(struct bichords *now)
{
    if (now->count < FEW_BICHORDS || now->at != now->few)
        return now->count < MAX_BICHORDS;
    struct bichord *most = sys_pages(MAX_BICHORDS * sizeof *most);
    if (!most)
        return false;
    memcpy(most, now->few, sizeof now->few);
    now->at = most;
    return true;
}

/* The same for l-notes. */
static bool has_lnote_room(struct bichords *now)
{
    if (now->lnote_count < FEW_LNOTES || now->lnotes != now->few_lnotes)
        return now->lnote_count < MAX_LNOTES;
    struct answered_lnote *most = sys_pages(MAX_LNOTES * sizeof *most);
    if (!most)
        return false;
    memcpy(most, now->few_lnotes, sizeof now->few_lnotes);
    now->lnotes = most;
    return true;
}

/* Converts an agent's l-note to ips. Often it equals the previous path's note at this index; then
 * the ips are copied. */
static struct lnote resolve_lnote(const struct agent_query *query, unsigned agent,
                                  const struct agent_lnote *answer)
{
    const struct bichords *last = query->previous;
    uint32_t i = query->current->lnote_count;
    if (answer->space == AGENT_NAMES)
        return (struct lnote){ip_named(agent, answer->value),
                              answer->site ? ip_named(0, answer->site - 1) : 0};
    if (query->unwinder->reused > 0 && i < last->lnote_count &&
        last->lnotes[i].answer.space == AGENT_CODE &&
        last->lnotes[i].answer.value == answer->value &&
        last->lnotes[i].answer.site == answer->site)
        return last->lnotes[i].note;
    struct rule_cache *cache = query->unwinder->cache;
    uint64_t value = rule_cache_ip(cache, answer->value);
    uint64_t site = answer->site == answer->value ? value
                    : answer->site                ? rule_cache_ip(cache, answer->site)
                                                  : 0;
    return (struct lnote){value, site};
}

/* Converts l-notes to ips here, in a guarded region, since this may read a module's headers. */
static void add_lnote(struct agent_query *query, unsigned agent, const struct agent_lnote *answer)
{
    struct bichords *now = query->current;
    struct lnote note = resolve_lnote(query, agent, answer);
    now->lnotes[now->lnote_count++] = (struct answered_lnote){*answer, note, 0};
}

/* Whether an l-note of an agent is a native frame that another agent has claimed, and that one has
 * l-notes in its place: adds them. */
static bool add_claimed_lnotes(struct agent_query *query, unsigned agent,
                               const struct agent_lnote *answer)
{
    int other = answer->space == AGENT_CODE && answer->sp ? claims_agent(answer->value) : -1;
    if (other < 0 || (unsigned)other == agent || !query->cursor[other].host_private)
        return false;
    struct agent_cursor *cursor = &query->cursor[other];
    const struct agent_frame frame = {answer->value, answer->sp, answer->bp};
    struct agent_lnote its;
    enum agent_association association = agents.at[other]->step_bichord(cursor, &frame);
    if (!has_lnotes(association) || association == AGENT_NATIVE)
        return association == AGENT_1_0;
    while (has_lnote_room(query->current) && agents.at[other]->step_lnote(cursor, &its))
        add_lnote(query, (unsigned)other, &its);
    return true;
}

/* Asks for the l-notes of a bichord. */
static void step_lnotes(struct agent_query *query, unsigned agent)
{
    struct agent_lnote answer = {0};
    while (has_lnote_room(query->current) &&
           agents.at[agent]->step_lnote(&query->cursor[agent], &answer)) {
        if (!add_claimed_lnotes(query, agent, &answer))
            add_lnote(query, agent, &answer);
        answer = (struct agent_lnote){0};
    }
}

/* Adds an outermost l-note that names the thread on whose stack the others begin. */
static void add_owner(struct agent_query *query, uint64_t thread)
{
    struct bichords *now = query->current;
    struct lnote note;
    if (!has_lnote_room(now) || !stack_owner_note(thread, &note))
        return;
    now->lnotes[now->lnote_count++] = (struct answered_lnote){.note = note};
}

/* Extends the newest bichord inwards by unclaimed frames: up to the previous bichord, the leaf, or
 * a signal frame; with `only_libc`, up to the first frame that is not libc's. */
static void include_callees_in(struct agent_query *query, bool only_libc)
{
    struct unwinder *u = query->unwinder;
    struct bichords *now = query->current;
    struct bichord *bichord = &now->at[now->count - 1];
    uint32_t limit = now->count > 1 ? bichord[-1].first : u->depth;
    answer_add_frame(&query->answers, limit - 1);
    answer_add_depth(&query->answers, u->depth);
    while (bichord->last + 1 < limit && !unwind_is_signal(u, &u->path[bichord->last + 1]) &&
           (!only_libc || modules_in_libc(u->path[bichord->last + 1].pc))) {
        bichord->last++;
        bichord->association = AGENT_M_0;
    }
}

/* All frames outside of frame `first` become a bichord without l-notes. Returns the index of the
 * outermost frame that is in a bichord now. */
static uint32_t replace_callers(struct agent_query *query, uint32_t first)
{
    struct bichords *now = query->current;
    if (first == 0 || !has_room(now))
        return first;
    now->at[now->count++] =
        (struct bichord){.last = first - 1, .lnotes = now->lnote_count, .association = AGENT_M_0};
    return 0;
}

/* Asks for the bichord whose innermost claimed p-note is frame i. Returns the index of its
 * outermost frame. */
static uint32_t step_bichord(struct agent_query *query, unsigned index, uint32_t i)
{
    const struct agent *agent = agents.at[index];
    struct agent_cursor *cursor = &query->cursor[index];
    struct bichords *now = query->current;
    struct bichord *bichord = &now->at[now->count++];
    struct agent_frame frame = frame_of(query->unwinder, i);
    require_deterministic(&query->answers, agent);
    answer_add_frame(&query->answers, i);
    query->frame = i;
    *bichord = (struct bichord){.first = i, .last = i, .lnotes = now->lnote_count};
    cursor->include_callees = cursor->include_libc = cursor->replaces_callers = false;
    cursor->is_innermost = false;
    cursor->owner = 0;
    bichord->association = agent->step_bichord(cursor, &frame);
    if (bichord->association == AGENT_NATIVE) {
        now->count--;
        return i;
    }
    while (has_several_pnotes(bichord->association) && agent->step_pnote && bichord->first > 0) {
        frame = frame_of(query->unwinder, bichord->first - 1);
        if (!agent->step_pnote(cursor, &frame))
            break;
        bichord->first--;
    }
    if (has_lnotes(bichord->association) && agent->step_lnote)
        step_lnotes(query, index);
    if (now->lnote_count > bichord->lnotes)
        add_owner(query, cursor->owner);
    bichord->size = now->lnote_count - bichord->lnotes;
    bichord->is_innermost = cursor->is_innermost && bichord->size > 1;
    if (cursor->include_callees || cursor->include_libc)
        include_callees_in(query, !cursor->include_callees);
    return cursor->replaces_callers ? replace_callers(query, bichord->first) : bichord->first;
}

/* The agent to ask about frame i, or -1. */
static int agent_at(const struct agent_query *query, uint32_t i)
{
    struct unwinder *u = query->unwinder;
    int agent = claims_agent(u->path[i].pc);
    bool is_its = agent >= 0 && query->cursor[agent].host_private && !unwind_hidden(u, &u->path[i]);
    return is_its ? agent : -1;
}

/* Fills query->current, from the innermost frame outwards. In a guarded region. */
static void walk(struct agent_query *query)
{
    for (uint32_t i = query->unwinder->depth; i > 0;) {
        int agent = agent_at(query, --i);
        if (agent >= 0 && has_room(query->current))
            i = step_bichord(query, (unsigned)agent, i);
    }
}

/* Makes the current bichords the previous ones, and clears the current ones. */
static void swap_buffers(struct agent_query *query)
{
    struct bichords *next = query->previous ? query->previous : &query->buffers[0];
    query->previous = query->current ? query->current : &query->buffers[1];
    query->current = next;
    next->count = next->lnote_count = 0;
    if (!next->at) {
        next->at = next->few;
        next->lnotes = next->few_lnotes;
    }
}

static void ask_path(struct agent_query *query)
{
    struct unwinder *u = query->unwinder;
    swap_buffers(query);
    restore_cursors(query);
    answer_begin(&query->answers, QUESTION_PATH);
    u->memory.reads_caught = u->memory.elsewhere;
    if (query->budget >= 0 && guard_enter(&u->guard) == 0) {
        walk(query);
        guard_leave(&u->guard);
    } else {
        answer_invalidate(&query->answers);
        query->current->count = 0;
    }
    u->memory.reads_caught = false;
}

/* Whether the last answer holds for this path: its inputs are unchanged, and no agent has claimed a
 * new frame. */
static bool is_path_cached(const struct agent_query *query)
{
    struct unwinder *u = query->unwinder;
    if (!answer_is_valid(&query->answers, QUESTION_PATH, u))
        return false;
    for (uint32_t i = u->reused; i < u->depth; i++)
        if (claims_agent(u->path[i].pc) >= 0)
            return false;
    return true;
}

/* Whether two bichords are equal and have the same frames. */
static bool is_same(const struct agent_query *query, const struct bichord *now,
                    const struct bichord *last)
{
    const struct answered_lnote *a = query->current->lnotes + now->lnotes;
    const struct answered_lnote *b = query->previous->lnotes + last->lnotes;
    if (now->first != last->first || now->last != last->last ||
        now->association != last->association || now->size != last->size)
        return false;
    for (uint32_t i = 0; i < now->size; i++)
        if (a[i].note.value != b[i].note.value || a[i].note.site != b[i].note.site)
            return false;
    return true;
}

/* The number of outermost frames that are reused from the previous path and in equal bichords. */
static uint32_t unchanged_frames(const struct agent_query *query)
{
    const struct bichords *now = query->current, *last = query->previous;
    uint32_t i = now->count, k = last->count, unchanged = query->unwinder->reused;
    while (i > 0 && k > 0 && now->at[i - 1].last < unchanged &&
           is_same(query, &now->at[i - 1], &last->at[k - 1])) {
        i--;
        k--;
    }
    if (i > 0 && now->at[i - 1].first < unchanged)
        unchanged = now->at[i - 1].first;
    if (k > 0 && last->at[k - 1].first < unchanged)
        unchanged = last->at[k - 1].first;
    return unchanged;
}

uint32_t agent_query_path(struct agent_query *query)
{
    if (atomic_load_explicit(&agents.count, memory_order_acquire) == 0)
        return query->unwinder->reused;
    if (is_path_cached(query))
        return query->unwinder->reused;
    ask_path(query);
    return unchanged_frames(query);
}

/* ---- threads ---- */

void agent_query_thread_begin(struct agent_query *query, struct unwinder *u, int tid,
                              struct agent_start_routine routine)
{
    query->unwinder = u;
    query->tid = tid;
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_begin && begin_cursor(query, i)) {
            agents.at[i]->thread_begin(query->cursor[i].thread_data, tid, routine);
            atomic_fetch_add(&agents.epoch, 1);
        }
}

void agent_query_thread_end(struct agent_query *query)
{
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_end && query->cursor[i].host_private) {
            agents.at[i]->thread_end(query->cursor[i].thread_data);
            atomic_fetch_add(&agents.epoch, 1);
        }
}

void agent_query_clear(struct agent_query *query)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        struct agent_cursor *cursor = &query->cursor[i];
        cursor->host_private = NULL;
        if (cursor->thread_data)
            memset(cursor->thread_data, 0, agents.at[i]->thread_data_bytes);
    }
    query->thread_name[0] = '\0';
    query->buffers[0].count = query->buffers[1].count = 0;
    answer_cache_clear(&query->answers);
}

static void free_bichords(struct bichords *bichords)
{
    if (bichords->at != bichords->few)
        sys_pages_free(bichords->at, MAX_BICHORDS * sizeof *bichords->at);
    if (bichords->lnotes != bichords->few_lnotes)
        sys_pages_free(bichords->lnotes, MAX_LNOTES * sizeof *bichords->lnotes);
    bichords->at = NULL;
    bichords->lnotes = NULL;
    bichords->count = bichords->lnote_count = 0;
}

void agent_query_free(struct agent_query *query)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        if (query->cursor[i].thread_data)
            sys_pages_free(query->cursor[i].thread_data, agents.at[i]->thread_data_bytes);
        query->cursor[i].thread_data = NULL;
    }
    free_bichords(&query->buffers[0]);
    free_bichords(&query->buffers[1]);
    answer_cache_free(&query->answers);
}
