/* Handler. */
#include "agents/common/creator-paths.h"

#include "agents/common/missing-bodies.h"

#define CONTEXT_FIELD(context, field)                                                              \
    agent_u64(path_agent.host, cursor, (context) + offsetof(struct creation_context, field))

/* An address on the creator's stack that a copy has: its place there; else the address. */
static uint64_t moved(const struct agent_cursor *cursor, uint64_t context, uint64_t address)
{
    uint64_t low = CONTEXT_FIELD(context, low), high = CONTEXT_FIELD(context, high);
    return address >= low && address < high ? address - low + CONTEXT_FIELD(context, copy)
                                            : address;
}

void creator_path_begin(struct agent_cursor *cursor, uint64_t context)
{
    struct path_state *state = cursor->state;
    uint64_t kind = context ? CONTEXT_FIELD(context, kind) : CONTEXT_ON_STACK;
    state->next = (struct agent_frame){0};
    state->last = 0;
    state->is_first = true;
    state->next_link = context && kind == CONTEXT_ON_STACK ? CONTEXT_FIELD(context, up) : 0;
    state->context = kind == CONTEXT_ON_STACK ? 0 : context;
    if (!context)
        return;
    state->next = (struct agent_frame){CONTEXT_FIELD(context, pc) - 1, CONTEXT_FIELD(context, sp),
                                       CONTEXT_FIELD(context, bp)};
    cursor->owner = CONTEXT_FIELD(context, thread);
    if (kind == CONTEXT_COPY) {
        state->next.sp = moved(cursor, context, state->next.sp);
        state->next.bp = moved(cursor, context, state->next.bp);
    }
}

static bool is_in_copy(const struct agent_cursor *cursor, uint64_t context, uint64_t sp)
{
    uint64_t copy = CONTEXT_FIELD(context, copy);
    uint64_t bytes = CONTEXT_FIELD(context, high) - CONTEXT_FIELD(context, low);
    return CONTEXT_FIELD(context, kind) == CONTEXT_COPY && sp >= copy && sp < copy + bytes;
}

static bool is_hidden(uint64_t pc)
{
    struct agent_claim claim;
    return path_agent.host->find_claim(path_agent.agent, pc, &claim);
}

uint64_t creator_path_missing(const struct agent_cursor *cursor, uint64_t body, uint64_t pc)
{
    if (body && is_hidden(pc))
        return path_agent.tag && !is_hidden(body) ? body : 0;
    return body ? missing_body(path_agent.host, cursor, body, pc) : 0;
}

/* One step in a copy. False: the frame is outside of it, so its context's parent continues. */
static bool step_in_copy(struct agent_cursor *cursor, struct agent_frame *frame)
{
    const struct path_state *state = cursor->state;
    uint64_t context = state->context;
    if (!is_in_copy(cursor, context, frame->sp) || !path_agent.host->step(cursor, frame))
        return false;
    frame->sp = moved(cursor, context, frame->sp);
    frame->bp = moved(cursor, context, frame->bp);
    return is_in_copy(cursor, context, frame->sp);
}

/* One step on a stack, not a copy. At the end of a construct that another thread began, the path
 * continues in its context: *context is then set. A body that jumped to the function which begins a construct has no
 * frame: the first one is then its trampoline's, and has still to be looked at. */
static bool step_on_stack(struct agent_cursor *cursor, struct agent_frame *frame, uint64_t *context)
{
    struct agent_claim claim;
    struct path_state *state = cursor->state;
    uint64_t callee = frame->pc;
    bool is_first = state->is_first;
    state->is_first = false;
    if (!(is_first && path_agent.tag && is_hidden(callee)) && !path_agent.host->step(cursor, frame))
        return false;
    bool calls_body = path_agent.host->find_claim(path_agent.agent, frame->pc, &claim) &&
                      claim.tag == path_agent.tag;
    uint64_t link = calls_body ? path_agent.link_in(cursor, state->next_link, frame) : 0;
    if (!link)
        return true;
    state->next_link = LINK_FIELD(link, up);
    state->body = creator_path_missing(cursor, LINK_FIELD(link, body), callee);
    if (!LINK_FIELD(link, is_inline))
        *context = LINK_FIELD(link, context);
    return true;
}

/* Moves to the next frame outwards, which may be the runtime's. */
static void step_outwards(struct agent_cursor *cursor)
{
    struct path_state *state = cursor->state;
    uint64_t context = 0;
    bool more = state->context ? step_in_copy(cursor, &state->next)
                               : step_on_stack(cursor, &state->next, &context);
    if (state->context && !more) {
        uint64_t body = CONTEXT_FIELD(state->context, body), callee = state->last;
        creator_path_begin(cursor, CONTEXT_FIELD(state->context, parent));
        state->body = creator_path_missing(cursor, body, callee);
    } else if (context) {
        creator_path_begin(cursor, context);
    } else if (!more) {
        state->next.pc = 0;
    }
}

bool creator_path_next(struct agent_cursor *cursor, struct agent_lnote *note)
{
    enum { MOST_HIDDEN = 256 }; /* frames in a row; a bound for a damaged stack */
    struct path_state *state = cursor->state;
    uint64_t pc = state->next.pc;
    for (int i = 0; i < MOST_HIDDEN && !state->body && pc && is_hidden(pc); i++) {
        step_outwards(cursor);
        pc = state->next.pc;
    }
    if (state->body) {
        *note = (struct agent_lnote){.space = AGENT_CODE, .value = state->body};
        state->body = 0;
        return true;
    }
    if (!pc)
        return false;
    *note = agent_native_note(&state->next);
    state->last = pc;
    step_outwards(cursor);
    return true;
}

bool creator_path_has_frame(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    (void)frame;
    return true;
}
