#include "hpcrun/logical/logical.h"

#include "hpcrun/code/modules.h"
#include "hpcrun/process.h"
#include "hpcrun/thread.h"

#include <string.h>

_Static_assert((int)AGENT_1_1 == ASSOC_1_1 && (int)AGENT_1_0 == ASSOC_1_0 &&
                   (int)AGENT_M_0 == ASSOC_M_0 && (int)AGENT_M_1 == ASSOC_M_1 &&
                   (int)AGENT_1_M == ASSOC_1_M,
               "agents say what the file says");

/* As deep as physical paths. What does not fit is cut at the outer end. */
#define MOST_BICHORDS UNWIND_MAX_FRAMES
#define MOST_LNOTES   UNWIND_MAX_FRAMES

/* -------- the walk: what agents say of the path -------- */

static bool has_several_pnotes(enum agent_association association)
{
    return association == AGENT_M_0 || association == AGENT_M_1;
}

static bool has_lnotes(enum agent_association association)
{
    return association != AGENT_1_0 && association != AGENT_M_0;
}

static struct agent_frame frame_of(const struct unwinder *u, uint32_t i)
{
    return (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
}

static bool make_room(struct bichords *bichords)
{
    if (!bichords->at)
        bichords->at = sys_pages(MOST_BICHORDS * sizeof *bichords->at);
    if (!bichords->lnotes)
        bichords->lnotes = sys_pages(MOST_LNOTES * sizeof *bichords->lnotes);
    return bichords->at && bichords->lnotes;
}

/* The l-notes of a bichord. Addresses become ips here, where reading a module may fail. */
static void step_lnotes(struct bichords *now, const struct agent *agent,
                        struct agent_cursor *cursor, struct rule_cache *cache)
{
    struct agent_lnote said;
    while (now->lnote_count < MOST_LNOTES && agent->step_lnote(cursor, &said)) {
        struct lnote *note = &now->lnotes[now->lnote_count++];
        note->value = rule_cache_ip(cache, said.value);
        note->site = said.site ? rule_cache_ip(cache, said.site) : 0;
    }
}

/* The bichord whose innermost p-note is frame i; returns the index of its outermost. */
static uint32_t step_bichord(struct logical *logical, const struct unwinder *u, unsigned index,
                             uint32_t i)
{
    const struct agent *agent = agents.at[index];
    struct agent_cursor *cursor = &logical->cursor[index];
    struct bichords *now = &logical->now;
    struct bichord *bichord = &now->at[now->count++];
    struct agent_frame frame = frame_of(u, i);
    *bichord = (struct bichord){.first = i, .last = i, .lnotes = now->lnote_count};
    bichord->association = agent->step_bichord(cursor, &frame);
    while (has_several_pnotes(bichord->association) && agent->step_pnote && bichord->first > 0) {
        frame = frame_of(u, bichord->first - 1);
        if (!agent->step_pnote(cursor, &frame))
            break;
        bichord->first--;
    }
    if (has_lnotes(bichord->association) && agent->step_lnote)
        step_lnotes(now, agent, cursor, u->cache);
    bichord->size = now->lnote_count - bichord->lnotes;
    return bichord->first;
}

/* Fills logical->now. In a guarded region. */
static void walk(struct logical *logical, struct unwinder *u)
{
    for (uint32_t i = u->depth; i > 0 && logical->now.count < MOST_BICHORDS;) {
        int agent = agents_of(u->path[--i].pc);
        if (agent >= 0 && logical->cursor[agent].unwinder && !unwind_hidden(u, &u->path[i]))
            i = step_bichord(logical, u, (unsigned)agent, i);
    }
}

static void ask_agents(struct logical *logical, struct unwinder *u)
{
    struct bichords before = logical->last;
    logical->last = logical->now;
    logical->now = before;
    logical->now.count = logical->now.lnote_count = 0;
    if (!make_room(&logical->now))
        return;
    if (guard_enter(&u->guard) == 0) {
        walk(logical, u);
        guard_leave(&u->guard);
    } else {
        logical->now.count = 0;
    }
}

/* -------- the entry into the tree -------- */

/* Where a path begins in the tree: at the root, or below the placeholder of partial paths. */
static uint32_t origin(struct thread *thread, enum unwind_end end)
{
    const struct cct_note partial = {.ip = ip_placeholder(PLACEHOLDER_PARTIAL), .first = true};
    return end == UNWIND_COMPLETE ? CCT_ROOT : cct_child(&thread->cct, CCT_ROOT, &partial);
}

/* Whether a frame with this ip is a call from the same place as the call around it, and such calls
 * are to be one. */
static bool collapses(const struct cct *cct, uint32_t node, uint64_t ip)
{
    return sampling.collapse_recursion && node != CCT_ROOT && cct_node(cct, node)->ip == ip;
}

/* A native frame, below `node`. */
static uint32_t enter_frame(struct thread *thread, uint32_t node, struct frame *frame)
{
    struct unwinder *u = &thread->unwinder;
    if (!unwind_hidden(u, frame)) {
        struct cct_note note = {.ip = unwind_ip(u, frame), .first = true};
        if (!collapses(&thread->cct, node, note.ip))
            node = cct_child(&thread->cct, node, &note);
    }
    return frame->node = node;
}

/* The lip of an l-note beside a p-note's ip (0: there is none). */
static uint32_t lip_of(struct thread *thread, struct lnote note, uint64_t ip)
{
    if (ip && note.value == ip && note.site == ip)
        return LIP_IS_IP;
    uint32_t lip = lnotes_lip(&thread->logical.lnotes, note);
    return lip ? lip : LIP_NONE;
}

/* All notes of a bichord, below `node`. */
static uint32_t enter_bichord(struct thread *thread, uint32_t node, const struct bichord *bichord)
{
    struct unwinder *u = &thread->unwinder;
    const struct lnote *outermost =
        thread->logical.now.lnotes + bichord->lnotes + bichord->size - 1;
    uint32_t pnotes = bichord->last - bichord->first + 1;
    uint32_t notes = pnotes > bichord->size ? pnotes : bichord->size;
    for (uint32_t i = 0; i < notes && node != CCT_NO_MEMORY; i++) {
        struct cct_note note = {.association = (uint8_t)bichord->association, .first = i == 0};
        if (i < pnotes)
            note.ip = unwind_ip(u, &u->path[bichord->first + i]);
        note.lip = i < bichord->size ? lip_of(thread, outermost[-(ptrdiff_t)i], note.ip) : LIP_NONE;
        node = cct_child(&thread->cct, node, &note);
        if (i < pnotes)
            u->path[bichord->first + i].node = node;
    }
    return u->path[bichord->last].node = node;
}

/* Whether a bichord is what it was in the last path, in the same frames. */
static bool is_same(const struct logical *logical, const struct bichord *now,
                    const struct bichord *last)
{
    const struct lnote *a = logical->now.lnotes + now->lnotes;
    const struct lnote *b = logical->last.lnotes + last->lnotes;
    if (now->first != last->first || now->last != last->last ||
        now->association != last->association || now->size != last->size)
        return false;
    for (uint32_t i = 0; i < now->size; i++)
        if (a[i].value != b[i].value || a[i].site != b[i].site)
            return false;
    return true;
}

/* How many frames, from the outermost, have the nodes that they had: kept frames, up to the first
 * bichord that differs. */
static uint32_t unchanged_frames(const struct logical *logical, uint32_t kept)
{
    const struct bichords *now = &logical->now, *last = &logical->last;
    uint32_t i = now->count, o = last->count;
    while (i > 0 && o > 0 && now->at[i - 1].last < kept &&
           is_same(logical, &now->at[i - 1], &last->at[o - 1])) {
        i--;
        o--;
    }
    if (i > 0 && now->at[i - 1].first < kept)
        kept = now->at[i - 1].first;
    if (o > 0 && last->at[o - 1].first < kept)
        kept = last->at[o - 1].first;
    return kept;
}

/* Enters the frames from the first changed one on. */
static uint32_t enter_path(struct thread *thread, enum unwind_end end, uint32_t unchanged)
{
    struct unwinder *u = &thread->unwinder;
    const struct bichords *now = &thread->logical.now;
    uint32_t node = unchanged ? u->path[unchanged - 1].node : origin(thread, end);
    uint32_t next = now->count; /* bichords behind it are entered */
    while (next > 0 && now->at[next - 1].first < unchanged)
        next--;
    for (uint32_t i = unchanged; i < u->depth && node != CCT_NO_MEMORY; i++) {
        if (next > 0 && now->at[next - 1].first == i) {
            node = enter_bichord(thread, node, &now->at[--next]);
            i = now->at[next].last;
        } else {
            node = enter_frame(thread, node, &u->path[i]);
        }
    }
    return node;
}

uint32_t logical_enter(struct thread *thread, enum unwind_end end)
{
    struct logical *logical = &thread->logical;
    uint32_t unchanged = thread->unwinder.kept;
    if (atomic_load_explicit(&agents.count, memory_order_acquire) > 0) {
        ask_agents(logical, &thread->unwinder);
        unchanged = unchanged_frames(logical, unchanged);
    }
    return enter_path(thread, end, unchanged);
}

/* -------- threads -------- */

/* Without memory for its slot the agent is not asked: the cursor has no unwinder. */
static bool begin_cursor(struct thread *thread, unsigned index)
{
    struct agent_cursor *cursor = &thread->logical.cursor[index];
    size_t bytes = agents.at[index]->slot_bytes;
    if (bytes && !cursor->slot)
        cursor->slot = sys_pages(bytes);
    const struct unwinder *u = &thread->unwinder;
    cursor->tid = thread->tid;
    cursor->stack_low = u->stack_low;
    cursor->stack_high = u->stack_high;
    cursor->leaf = u->depth ? frame_of(u, u->depth - 1) : (struct agent_frame){0};
    cursor->unwinder = bytes && !cursor->slot ? NULL : &thread->unwinder;
    memset(cursor->state, 0, sizeof cursor->state);
    return cursor->unwinder != NULL;
}

struct stance logical_stance(struct thread *thread)
{
    struct stance stance = {.class = AGENT_FOREIGN};
    unsigned count = atomic_load_explicit(&agents.count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++) {
        const struct agent *agent = agents.at[i];
        struct agent_cursor *cursor = &thread->logical.cursor[i];
        enum agent_thread class = begin_cursor(thread, i) ? agent->begin(cursor) : AGENT_FOREIGN;
        if (class == AGENT_FOREIGN || stance.class != AGENT_FOREIGN)
            continue;
        stance = (struct stance){.class = class, .agent = i};
        if (agent->counts)
            stance.counts = agent->counts(cursor);
    }
    return stance;
}

void logical_thread_begin(struct thread *thread)
{
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_begin && begin_cursor(thread, i))
            agents.at[i]->thread_begin(thread->logical.cursor[i].slot, thread->tid,
                                       thread->origin);
}

void logical_thread_end(struct thread *thread)
{
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->thread_end && thread->logical.cursor[i].unwinder)
            agents.at[i]->thread_end(thread->logical.cursor[i].slot);
}

void logical_clear(struct logical *logical)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        struct agent_cursor *cursor = &logical->cursor[i];
        cursor->unwinder = NULL;
        if (cursor->slot)
            memset(cursor->slot, 0, agents.at[i]->slot_bytes);
    }
    logical->last.count = logical->now.count = 0;
    lnotes_free(&logical->lnotes);
}

static void free_bichords(struct bichords *bichords)
{
    sys_pages_free(bichords->at, MOST_BICHORDS * sizeof *bichords->at);
    sys_pages_free(bichords->lnotes, MOST_LNOTES * sizeof *bichords->lnotes);
    *bichords = (struct bichords){0};
}

void logical_free(struct logical *logical)
{
    for (unsigned i = 0; i < MAX_AGENTS; i++) {
        if (logical->cursor[i].slot)
            sys_pages_free(logical->cursor[i].slot, agents.at[i]->slot_bytes);
        logical->cursor[i].slot = NULL;
    }
    free_bichords(&logical->last);
    free_bichords(&logical->now);
    lnotes_free(&logical->lnotes);
}
