/* Handler. */
#include "agents/common/trampoline-frames.h"

bool trampolines_claim(const struct agent_module *module)
{
    uint64_t from = (uint64_t)trampolines_start, to = (uint64_t)trampolines_end;
    if (from < module->start || from >= module->end)
        return false;
    const struct agent_claim claims[] = {{module->start, from, CLAIM_RUNTIME},
                                         {from, to, CLAIM_TRAMPOLINES},
                                         {to, module->end, CLAIM_RUNTIME}};
    path_agent.host->claim(path_agent.agent, claims, sizeof claims / sizeof *claims);
    return true;
}

/* No frame of a trampoline is larger. */
#define TRAMPOLINE_FRAME 512

uint64_t trampoline_link_in(const struct agent_cursor *cursor, uint64_t first,
                            const struct agent_frame *frame)
{
    uint64_t link = first;
    while (link && LINK_FIELD(link, sp) < frame->sp)
        link = LINK_FIELD(link, up);
    return link && LINK_FIELD(link, sp) < frame->sp + TRAMPOLINE_FRAME ? link : 0;
}

static enum agent_association begin_construct(struct agent_cursor *cursor,
                                              const struct agent_frame *frame)
{
    struct path_state *state = cursor->state;
    uint64_t link = trampoline_link_in(cursor, state->link, frame);
    uint64_t context = link ? LINK_FIELD(link, context) : 0;
    struct agent_frame callee;
    state->link = link ? LINK_FIELD(link, up) : state->link;
    state->body = link && path_agent.host->callee(cursor, &callee)
                      ? creator_path_missing(cursor, LINK_FIELD(link, body), callee.pc)
                      : 0;
    if (!context || LINK_FIELD(link, is_inline))
        return state->body ? AGENT_1_1 : AGENT_1_0;
    creator_path_begin(cursor, context);
    state->is_replaced = true;
    return AGENT_1_M;
}

static enum agent_association begin_last_context(struct agent_cursor *cursor)
{
    struct trampoline_state *state = cursor->state;
    if (state->innermost_was_seen) {
        creator_path_begin(cursor, state->last_context);
        state->last_context = 0;
        state->path.is_replaced = cursor->replaces_callers = true;
        return AGENT_1_M;
    }
    state->innermost_was_seen = true;
    cursor->include_libc = true;
    return AGENT_1_0;
}

enum agent_association trampoline_step_bichord(struct agent_cursor *cursor,
                                               const struct agent_frame *frame)
{
    const struct trampoline_state *state = cursor->state;
    struct agent_claim claim = {0};
    if (state->last_context)
        return begin_last_context(cursor);
    if (state->path.is_replaced)
        return AGENT_M_0;
    path_agent.host->find_claim(path_agent.agent, frame->pc, &claim);
    if (claim.tag == CLAIM_TRAMPOLINES)
        return begin_construct(cursor, frame);
    cursor->include_libc = true;
    return AGENT_1_0;
}
