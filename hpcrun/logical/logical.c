#include "hpcrun/logical/logical.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/process/process.h"

#include <string.h>

_Static_assert((int)AGENT_1_1 == ASSOC_1_1 && (int)AGENT_1_0 == ASSOC_1_0 &&
                   (int)AGENT_M_0 == ASSOC_M_0 && (int)AGENT_M_1 == ASSOC_M_1 &&
                   (int)AGENT_1_M == ASSOC_1_M,
               "the agent interface and the file use the same numbers");

uint32_t logical_unknown(struct cct *cct)
{
    const struct cct_note partial = {.ip = ip_placeholder(PLACEHOLDER_PARTIAL), .first = true};
    return cct_child(cct, CCT_ROOT, &partial);
}

/* The other thread on whose stack the path begins; zeros if there is none. */
static struct stack_owner find_owner(const struct logical *logical, const struct unwinder *u,
                                     uint32_t unchanged)
{
    uint64_t sp = u->path[0].sp;
    if (sp - u->stack_low < u->stack_high - u->stack_low)
        return (struct stack_owner){0};
    return unchanged && stack_owner_holds(&logical->borrowed, sp) ? logical->borrowed
                                                                  : stack_owner_of(sp);
}

/* Finds logical->borrowed. Returns how many of the frames with the nodes of the previous path still
 * have them: none if that began on the stack of another thread. */
static uint32_t update_owner(struct logical *logical, const struct unwinder *u, enum unwind_end end,
                             uint32_t unchanged)
{
    struct stack_owner owner = {0};
    bool has_agents = logical->query.current; /* else the logical path is the physical one */
    if (end == UNWIND_COMPLETE && u->depth > 0 && has_agents)
        owner = find_owner(logical, u, unchanged);
    if (owner.thread != logical->borrowed.thread)
        unchanged = 0;
    logical->borrowed = owner;
    return unchanged;
}

/* The note that names the thread on whose stack the path begins; the root without memory. */
static uint32_t owner_note(struct cct *cct, struct logical *logical)
{
    struct lnote thread;
    bool is_known = stack_owner_note(logical->borrowed.thread, &thread);
    uint32_t lip = is_known ? lnotes_lip(&logical->lnotes, thread) : 0;
    const struct cct_note note = {.lip = lip, .association = ASSOC_1_M, .first = true};
    return lip ? cct_child(cct, CCT_ROOT, &note) : CCT_ROOT;
}

/* The node below which a path is entered: the root, the placeholder of partial paths, or the thread
 * on whose stack it begins. */
static uint32_t origin(struct cct *cct, struct logical *logical, enum unwind_end end)
{
    if (end != UNWIND_COMPLETE)
        return logical_unknown(cct);
    return logical->borrowed.thread ? owner_note(cct, logical) : CCT_ROOT;
}

/* Whether the frame is dropped for hpcrun --collapse-recursion: it calls from the same place as its
 * caller. */
static bool collapses(const struct cct *cct, uint32_t node, uint64_t ip)
{
    return sampling.collapse_recursion && node != CCT_ROOT && cct_node(cct, node)->ip == ip;
}

/* Enters a native frame below `node`. */
static uint32_t enter_frame(struct cct *cct, uint32_t node, struct unwinder *u, struct frame *frame)
{
    if (!unwind_hidden(u, frame)) {
        struct cct_note note = {.ip = unwind_ip(u, frame), .first = true};
        if (!collapses(cct, node, note.ip))
            node = cct_child(cct, node, &note);
    }
    return frame->node = node;
}

/* The lip of an l-note whose p-note has this ip; 0: there is no p-note. */
static uint32_t lip_of(struct lnotes *lnotes, struct lnote note, uint64_t ip)
{
    if (ip && note.value == ip && note.site == ip)
        return LIP_IS_IP;
    uint32_t lip = lnotes_lip(lnotes, note);
    return lip ? lip : LIP_NONE;
}

/* The bichord of the previous path that begins with the same frame below the same node; NULL: there is
 * none. Its nodes are those of equal notes of this one, from the outermost on. */
static const struct bichord *entered_before(const struct logical *logical,
                                            const struct bichord *bichord)
{
    const struct bichords *last = logical->query.previous;
    for (uint32_t i = last ? last->count : 0; i > 0; i--) {
        const struct bichord *at = &last->at[i - 1];
        if (at->first == bichord->first)
            return at->is_innermost && at->parent == bichord->parent ? at : NULL;
    }
    return NULL;
}

static bool is_same_note(const struct answered_lnote *a, const struct answered_lnote *b)
{
    return a->note.value == b->note.value && a->note.site == b->note.site;
}

/* Enters the l-notes of a bichord whose one p-note is the innermost one's, without that one. An
 * interpreter's loop may execute hundreds of procedures: at most samples only the innermost are new. */
static uint32_t enter_outer_notes(struct cct *cct, struct logical *logical,
                                  const struct bichord *bichord, bool may_reuse)
{
    struct bichords *now = logical->query.current;
    const struct bichord *before = may_reuse ? entered_before(logical, bichord) : NULL;
    const struct answered_lnote *known =
        before ? logical->query.previous->lnotes + before->lnotes + before->size : NULL;
    uint32_t node = bichord->parent;
    for (uint32_t i = 1; i < bichord->size && node != CCT_NO_MEMORY; i++) {
        struct answered_lnote *its = &now->lnotes[bichord->lnotes + bichord->size - i];
        bool is_known = before && i < before->size && is_same_note(its, &known[-(ptrdiff_t)i]) &&
                        known[-(ptrdiff_t)i].node != CCT_ROOT;
        const struct cct_note note = {.association = (uint8_t)bichord->association,
                                      .first = i == 1,
                                      .lip = is_known ? 0 : lip_of(&logical->lnotes, its->note, 0)};
        if (!is_known)
            before = NULL;
        node = is_known ? known[-(ptrdiff_t)i].node : cct_child(cct, node, &note);
        its->node = node;
    }
    return node;
}

/* Enters all notes of a bichord below `node`. hpcrun's own frames get none. */
static uint32_t enter_bichord(struct cct *cct, uint32_t node, struct unwinder *u,
                              struct logical *logical, const struct bichord *bichord)
{
    uint32_t pnotes = bichord->last - bichord->first + 1;
    uint32_t size = bichord->is_innermost ? 1 : bichord->size;
    uint32_t notes = pnotes > size ? pnotes : size;
    const struct answered_lnote *outermost =
        logical->query.current->lnotes + bichord->lnotes + size - 1;
    bool first = !bichord->is_innermost;
    for (uint32_t i = 0; i < notes && node != CCT_NO_MEMORY; i++) {
        struct frame *frame = i < pnotes ? &u->path[bichord->first + i] : NULL;
        if (frame && i >= size && unwind_hidden(u, frame)) {
            frame->node = node;
            continue;
        }
        struct cct_note note = {.association = (uint8_t)bichord->association, .first = first};
        first = false;
        if (frame)
            note.ip = unwind_ip(u, frame);
        note.lip =
            i < size ? lip_of(&logical->lnotes, outermost[-(ptrdiff_t)i].note, note.ip) : LIP_NONE;
        node = cct_child(cct, node, &note);
        if (frame)
            frame->node = node;
    }
    return u->path[bichord->last].node = node;
}

uint32_t logical_enter(struct logical *logical, struct unwinder *u, struct cct *cct,
                       enum unwind_end end, uint32_t unchanged)
{
    struct bichords *now = logical->query.current;
    unchanged = update_owner(logical, u, end, unchanged);
    uint32_t node = unchanged ? u->path[unchanged - 1].node : origin(cct, logical, end);
    uint32_t next = now ? now->count : 0; /* bichords from here on are entered */
    while (next > 0 && now->at[next - 1].first < unchanged)
        next--;
    for (uint32_t i = unchanged; i < u->depth && node != CCT_NO_MEMORY; i++) {
        if (next > 0 && now->at[next - 1].first == i) {
            struct bichord *bichord = &now->at[--next];
            bichord->parent = node;
            if (bichord->is_innermost)
                node = enter_outer_notes(cct, logical, bichord, unchanged > 0);
            if (node != CCT_NO_MEMORY)
                node = enter_bichord(cct, node, u, logical, bichord);
            i = bichord->last;
        } else {
            node = enter_frame(cct, node, u, &u->path[i]);
        }
    }
    return node;
}

void logical_clear(struct logical *logical)
{
    agent_query_clear(&logical->query);
    lnotes_free(&logical->lnotes);
    logical->borrowed = (struct stack_owner){0};
}

void logical_free(struct logical *logical)
{
    agent_query_free(&logical->query);
    lnotes_free(&logical->lnotes);
    logical->borrowed = (struct stack_owner){0};
}
