#include "hpcrun/logical/agent-query.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/claims.h"

#include <string.h>

/* As deep as physical paths. What does not fit is cut at the outer end. */
#define MOST_BICHORDS UNWIND_MAX_FRAMES
#define MOST_LNOTES   UNWIND_MAX_FRAMES

static struct agent_frame frame_of(const struct unwinder *u, uint32_t i)
{
    return (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
}

/* The next answer of this agent belongs to the record of the question. */
static void rest_on(struct recall *recall, const struct agent *agent)
{
    if (!agent->deterministic)
        recall_spoil(recall);
}

/* -------- what the thread is -------- */

/* Without memory for its slot the agent is not asked: the cursor is not hpcrun's. */
static bool begin_cursor(struct consult *consult, unsigned index)
{
    struct agent_cursor *cursor = &consult->cursor[index];
    const struct unwinder *u = consult->unwinder;
    size_t bytes = agents.at[index]->thread_data_bytes;
    if (bytes && !cursor->thread_data)
        cursor->thread_data = sys_pages(bytes);
    cursor->tid = consult->tid;
    cursor->stack_low = u->stack_low;
    cursor->stack_high = u->stack_high;
    cursor->leaf = u->depth ? frame_of(u, u->depth - 1) : (struct agent_frame){0};
    cursor->host_private = bytes && !cursor->thread_data ? NULL : consult;
    memset(cursor->state, 0, sizeof cursor->state);
    return cursor->host_private != NULL;
}

/* Asks an agent what the thread is. Keeps its state: what it says of a path rests on that, too. */
static enum agent_thread_status ask_class_of(struct consult *consult, unsigned index)
{
    struct agent_cursor *cursor = &consult->cursor[index];
    enum agent_thread_status class = AGENT_FOREIGN;
    rest_on(&consult->recall, agents.at[index]);
    if (begin_cursor(consult, index))
        class = agents.at[index]->unwind_begin(cursor);
    if (memcmp(consult->begun[index], cursor->state, sizeof cursor->state) != 0) {
        memcpy(consult->begun[index], cursor->state, sizeof cursor->state);
        consult->recall.answer[RECALL_PATH].is_whole = false;
    }
    return class;
}

/* The first agent that knows the thread says what it is. */
static void ask_class(struct consult *consult, unsigned count)
{
    recall_ask(&consult->recall, RECALL_CLASS);
    consult->stance = (struct stance){.class = AGENT_FOREIGN};
    for (unsigned i = 0; i < count; i++) {
        enum agent_thread_status class = ask_class_of(consult, i);
        if (class != AGENT_FOREIGN && consult->stance.class == AGENT_FOREIGN)
            consult->stance = (struct stance){.class = class, .agent = i};
    }
    consult->is_begun = true;
}

/* The cursors as `begin` left them, if it was not called at this sample. */
static void have_begun(struct consult *consult)
{
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);
    for (unsigned i = 0; i < count && !consult->is_begun; i++) {
        begin_cursor(consult, i);
        memcpy(consult->cursor[i].state, consult->begun[i], sizeof consult->begun[i]);
    }
    consult->is_begun = true;
}

static void ask_counts(struct consult *consult)
{
    struct stance *stance = &consult->stance;
    const struct agent *agent = agents.at[stance->agent];
    have_begun(consult);
    recall_ask(&consult->recall, RECALL_COUNTS);
    rest_on(&consult->recall, agent);
    stance->counts = (struct agent_worker_counts){0};
    if (stance->class != AGENT_FOREIGN && agent->worker_counts)
        stance->counts = agent->worker_counts(&consult->cursor[stance->agent]);
}

const struct stance *consult_stance(struct consult *consult, struct unwinder *u, int tid)
{
    struct recall *recall = &consult->recall;
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);
    uint32_t epoch = atomic_load_explicit(&agents.epoch, memory_order_acquire);
    if (count == 0)
        return &consult->stance;
    if (recall->epoch != epoch)
        recall_forget(recall);
    recall->epoch = epoch;
    consult->unwinder = u;
    consult->tid = tid;
    consult->is_begun = false;
    if (!recall_holds(recall, RECALL_CLASS, u))
        ask_class(consult, count);
    if (consult->is_begun || !recall_holds(recall, RECALL_COUNTS, u))
        ask_counts(consult);
    return &consult->stance;
}

/* -------- the path -------- */

static bool has_several_pnotes(enum agent_association association)
{
    return association == AGENT_M_0 || association == AGENT_M_1;
}

static bool has_lnotes(enum agent_association association)
{
    return association != AGENT_1_0 && association != AGENT_M_0;
}

/* Room for one bichord more. */
static bool has_room(struct bichords *now)
{
    if (now->count < FEW_BICHORDS || now->at != now->few)
        return now->count < MOST_BICHORDS;
    struct bichord *most = sys_pages(MOST_BICHORDS * sizeof *most);
    if (!most)
        return false;
    memcpy(most, now->few, sizeof now->few);
    now->at = most;
    return true;
}

/* Room for one l-note more. */
static bool has_lnote_room(struct bichords *now)
{
    if (now->lnote_count < FEW_LNOTES || now->lnotes != now->few_lnotes)
        return now->lnote_count < MOST_LNOTES;
    struct told *most = sys_pages(MOST_LNOTES * sizeof *most);
    if (!most)
        return false;
    memcpy(most, now->few_lnotes, sizeof now->few_lnotes);
    now->lnotes = most;
    return true;
}

/* The ips of what an agent said: mostly it says the same as in the last path, in the same place. */
static struct lnote note_of(const struct consult *consult, const struct agent_lnote *said)
{
    const struct bichords *last = consult->last;
    uint32_t i = consult->now->lnote_count;
    if (consult->unwinder->reused > 0 && i < last->lnote_count &&
        last->lnotes[i].said.value == said->value && last->lnotes[i].said.site == said->site)
        return last->lnotes[i].note;
    struct rule_cache *cache = consult->unwinder->cache;
    uint64_t value = rule_cache_ip(cache, said->value);
    uint64_t site = said->site == said->value ? value
                    : said->site              ? rule_cache_ip(cache, said->site)
                                              : 0;
    return (struct lnote){value, site};
}

/* The l-notes of a bichord. Addresses become ips here, where reading a module may fail. */
static void step_lnotes(struct consult *consult, const struct agent *agent,
                        struct agent_cursor *cursor)
{
    struct bichords *now = consult->now;
    struct agent_lnote said;
    while (has_lnote_room(now) && agent->step_lnote(cursor, &said)) {
        struct lnote note = note_of(consult, &said);
        now->lnotes[now->lnote_count++] = (struct told){said, note};
    }
}

/* Frames inside of the newest bichord that are in no other become its own, but for those of a
 * handler that the program has for a signal, and with `only_libc` up to the first that is not
 * libc's. */
static void take_callees(struct consult *consult, bool only_libc)
{
    struct unwinder *u = consult->unwinder;
    struct bichords *now = consult->now;
    struct bichord *bichord = &now->at[now->count - 1];
    uint32_t limit = now->count > 1 ? bichord[-1].first : u->depth;
    recall_note_frame(&consult->recall, limit - 1);
    recall_note_depth(&consult->recall, u->depth);
    while (bichord->last + 1 < limit && !unwind_is_signal(u, &u->path[bichord->last + 1]) &&
           (!only_libc || modules_in_libc(u->path[bichord->last + 1].pc))) {
        bichord->last++;
        bichord->association = AGENT_M_0;
    }
}

/* The bichord whose innermost claimed p-note is frame i; returns the index of its outermost. */
static uint32_t step_bichord(struct consult *consult, unsigned index, uint32_t i)
{
    const struct agent *agent = agents.at[index];
    struct agent_cursor *cursor = &consult->cursor[index];
    struct bichords *now = consult->now;
    struct bichord *bichord = &now->at[now->count++];
    struct agent_frame frame = frame_of(consult->unwinder, i);
    rest_on(&consult->recall, agent);
    recall_note_frame(&consult->recall, i);
    *bichord = (struct bichord){.first = i, .last = i, .lnotes = now->lnote_count};
    cursor->include_callees = cursor->include_libc = false;
    bichord->association = agent->step_bichord(cursor, &frame);
    while (has_several_pnotes(bichord->association) && agent->step_pnote && bichord->first > 0) {
        frame = frame_of(consult->unwinder, bichord->first - 1);
        if (!agent->step_pnote(cursor, &frame))
            break;
        bichord->first--;
    }
    if (has_lnotes(bichord->association) && agent->step_lnote)
        step_lnotes(consult, agent, cursor);
    bichord->size = now->lnote_count - bichord->lnotes;
    if (cursor->include_callees || cursor->include_libc)
        take_callees(consult, !cursor->include_callees);
    return bichord->first;
}

/* The agent that has something to say of frame i, or -1. */
static int agent_at(const struct consult *consult, uint32_t i)
{
    struct unwinder *u = consult->unwinder;
    int agent = claims_agent(u->path[i].pc);
    bool is_its =
        agent >= 0 && consult->cursor[agent].host_private && !unwind_hidden(u, &u->path[i]);
    return is_its ? agent : -1;
}

/* Fills consult->now. In a guarded region. */
static void walk(struct consult *consult)
{
    for (uint32_t i = consult->unwinder->depth; i > 0;) {
        int agent = agent_at(consult, --i);
        if (agent >= 0 && has_room(consult->now))
            i = step_bichord(consult, (unsigned)agent, i);
    }
}

/* What was said last is what was said before. */
static void turn_over(struct consult *consult)
{
    struct bichords *before = consult->last ? consult->last : &consult->two[0];
    consult->last = consult->now ? consult->now : &consult->two[1];
    consult->now = before;
    before->count = before->lnote_count = 0;
    if (!before->at) {
        before->at = before->few;
        before->lnotes = before->few_lnotes;
    }
}

static void ask_path(struct consult *consult)
{
    struct unwinder *u = consult->unwinder;
    turn_over(consult);
    have_begun(consult);
    recall_ask(&consult->recall, RECALL_PATH);
    if (guard_enter(&u->guard) == 0) {
        walk(consult);
        guard_leave(&u->guard);
    } else {
        recall_spoil(&consult->recall);
        consult->now->count = 0;
    }
}

/* Whether the last answer is this path's: what it rests on is the same, and no agent has anything
 * to say of the frames that are new. */
static bool is_recalled(const struct consult *consult)
{
    struct unwinder *u = consult->unwinder;
    if (!recall_holds(&consult->recall, RECALL_PATH, u))
        return false;
    for (uint32_t i = u->reused; i < u->depth; i++)
        if (claims_agent(u->path[i].pc) >= 0)
            return false;
    return true;
}

/* Whether a bichord is what it was in the last path, in the same frames. */
static bool is_same(const struct consult *consult, const struct bichord *now,
                    const struct bichord *last)
{
    const struct told *a = consult->now->lnotes + now->lnotes;
    const struct told *b = consult->last->lnotes + last->lnotes;
    if (now->first != last->first || now->last != last->last ||
        now->association != last->association || now->size != last->size)
        return false;
    for (uint32_t i = 0; i < now->size; i++)
        if (a[i].note.value != b[i].note.value || a[i].note.site != b[i].note.site)
            return false;
    return true;
}

/* How many frames, from the outermost, are of the previous path and in the same bichords. */
static uint32_t unchanged_frames(const struct consult *consult)
{
    const struct bichords *now = consult->now, *last = consult->last;
    uint32_t i = now->count, o = last->count, kept = consult->unwinder->reused;
    while (i > 0 && o > 0 && now->at[i - 1].last < kept &&
           is_same(consult, &now->at[i - 1], &last->at[o - 1])) {
        i--;
        o--;
    }
    if (i > 0 && now->at[i - 1].first < kept)
        kept = now->at[i - 1].first;
    if (o > 0 && last->at[o - 1].first < kept)
        kept = last->at[o - 1].first;
    return kept;
}

uint32_t consult_path(struct consult *consult)
{
    if (atomic_load_explicit(&agents.count, memory_order_acquire) == 0)
        return consult->unwinder->reused;
    if (is_recalled(consult))
        return consult->unwinder->reused;
    ask_path(consult);
    return unchanged_frames(consult);
}

/* -------- threads -------- */

void consult_thread_begin(struct consult *consult, struct unwinder *u, int tid,
                          struct agent_start_routine origin)
{
    consult->unwinder = u;
    consult->tid = tid;
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_begin && begin_cursor(consult, i)) {
            agents.at[i]->thread_begin(consult->cursor[i].thread_data, tid, origin);
            atomic_fetch_add(&agents.epoch, 1);
        }
}

void consult_thread_end(struct consult *consult)
{
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_end && consult->cursor[i].host_private) {
            agents.at[i]->thread_end(consult->cursor[i].thread_data);
            atomic_fetch_add(&agents.epoch, 1);
        }
}

void consult_clear(struct consult *consult)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        struct agent_cursor *cursor = &consult->cursor[i];
        cursor->host_private = NULL;
        if (cursor->thread_data)
            memset(cursor->thread_data, 0, agents.at[i]->thread_data_bytes);
    }
    consult->two[0].count = consult->two[1].count = 0;
    recall_forget(&consult->recall);
}

static void free_bichords(struct bichords *bichords)
{
    if (bichords->at != bichords->few)
        sys_pages_free(bichords->at, MOST_BICHORDS * sizeof *bichords->at);
    if (bichords->lnotes != bichords->few_lnotes)
        sys_pages_free(bichords->lnotes, MOST_LNOTES * sizeof *bichords->lnotes);
    bichords->at = NULL;
    bichords->lnotes = NULL;
    bichords->count = bichords->lnote_count = 0;
}

void consult_free(struct consult *consult)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        if (consult->cursor[i].thread_data)
            sys_pages_free(consult->cursor[i].thread_data, agents.at[i]->thread_data_bytes);
        consult->cursor[i].thread_data = NULL;
    }
    free_bichords(&consult->two[0]);
    free_bichords(&consult->two[1]);
    recall_free(&consult->recall);
}
