/* Signal handler: everything here runs there. */
#include "agents/cilk5/cilk5-caller.h"

#include "agents/cilk5/cilk5-runtime.h"

/* Words of the frame of hpcrun's wrapper, which has a frame pointer. The caller's frame follows. */
enum { CALLERS_BP = 0, RETURN_ADDRESS = 8, CALLERS_SP = 16 };

static bool is_claimed_as(const struct agent_host *host, uint32_t tag, uint64_t pc)
{
    struct agent_claim claim;
    return host->find_claim(&hpcrun_agent, pc, &claim) && claim.tag == tag;
}

/* The frame of Cilk_wakeup_workers in the thread with this slot; pc 0: it does not wait there. */
static struct agent_frame waiting_frame(const struct agent_host *host, const struct agent_cursor *cursor,
                                        const struct agent_slot *slot)
{
    static const struct agent_frame none;
    if (agent_u32(host, cursor, (uint64_t)&slot->state) != AGENT_SLOT_WAITING)
        return none;
    uint64_t wrapper = agent_u64(host, cursor, (uint64_t)&slot->frame);
    uint64_t pc = agent_u64(host, cursor, wrapper + RETURN_ADDRESS) - 1;
    if (!is_in(runtime()->wakeup_workers, pc))
        return none;
    return (struct agent_frame){
        .pc = pc, .sp = wrapper + CALLERS_SP, .bp = agent_u64(host, cursor, wrapper + CALLERS_BP)};
}

/* The one thread that waits; NULL: none does, or several. */
static const struct agent_slot *find_waiting(const struct agent_host *host, const struct agent_cursor *cursor,
                                             struct agent_frame *frame)
{
    const struct agent_slot *found = NULL;
    uint32_t end = agent_u32(host, cursor, (uint64_t)&host->slots->end);
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot *slot = agent_slot_at(host->slots, i);
        const struct agent_frame its = waiting_frame(host, cursor, slot);
        if (its.pc && found)
            return NULL;
        if (its.pc) {
            found = slot;
            *frame = its;
        }
    }
    return found;
}

struct caller find_caller(const struct agent_host *host, const struct agent_cursor *cursor)
{
    struct caller caller;
    const struct agent_slot *slot = find_waiting(host, cursor, &caller.frame);
    bool more = slot != NULL;
    while (more && is_claimed_as(host, RUNTIME, caller.frame.pc))
        more = host->step(cursor, &caller.frame);
    if (!more || is_claimed_as(host, MAIN_ENTRY, caller.frame.pc))
        return (struct caller){{0}, 0};
    caller.thread = agent_u64(host, cursor, (uint64_t)&slot->thread);
    return caller;
}
