#include "hpcrun/sample/sample.h"

#include "hpcrun/code/modules.h"
#include "hpcrun/process.h"

static void tally(struct thread_event *event, enum fate fate, uint64_t amount)
{
    struct tally *tally = &event->fates[fate_slot(fate)];
    tally->count++;
    tally->amount += amount;
}

void sample_miss(struct thread_event *event, const struct increment *increment)
{
    __atomic_fetch_add(&event->missed.count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&event->missed.amount, increment->amount, __ATOMIC_RELAXED);
}

/* Where a path begins in the tree: at the root, or below the placeholder of partial paths. */
static uint32_t path_origin(struct thread *thread, enum unwind_end end)
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

/* Enters the frames that are new since the previous path; returns the node of the innermost. */
static uint32_t enter_path(struct thread *thread, enum unwind_end end)
{
    struct unwinder *u = &thread->unwinder;
    uint32_t node = u->kept ? u->path[u->kept - 1].node : path_origin(thread, end);
    for (uint32_t i = u->kept; i < u->depth && node != CCT_NO_MEMORY; i++) {
        struct frame *frame = &u->path[i];
        if (!unwind_hidden(u, frame)) {
            struct cct_note note = {.ip = unwind_ip(u, frame), .first = true};
            if (!collapses(&thread->cct, node, note.ip))
                node = cct_child(&thread->cct, node, &note);
        }
        frame->node = node;
    }
    return node;
}

void sample_record(struct thread *thread, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context)
{
    tally(event, FATE_FIRED, increment->amount);
    enum unwind_end end = unwind(&thread->unwinder, context);
    uint32_t node = enter_path(thread, end);
    if (node == CCT_NO_MEMORY || !cct_add(&thread->cct, node, event->work, increment->amount)) {
        unwind_forget(&thread->unwinder);
        tally(event, FATE_DROPPED_NO_MEMORY, increment->amount);
        return;
    }
    if (increment->blocked)
        cct_add(&thread->cct, node, event->blocked, increment->blocked);
    tally(event, FATE_RECORDED, increment->amount);
    if (end != UNWIND_COMPLETE)
        tally(event, FATE_PARTIAL_NO_FDE + (end - UNWIND_NO_FDE), increment->amount);
}
