/* The scheduler's loop, and how frames end, wait and resume. */
#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 6 "hpctoolkit:parallel-overhead:scheduler"
#endif
RUNTIME_CODE static void enter_work(struct worker *worker, struct minicilk_frame *base)
{
    atomic_store_explicit(&worker->base, base, memory_order_relaxed);
    atomic_fetch_add_explicit(&minicilk_live.n_w, 1, memory_order_relaxed);
    atomic_store_explicit(&worker->state, MINICILK_WORKING, memory_order_relaxed);
}

/* Clears the base, which must happen before any join (minicilk-introspect.h). Joins are
 * sequentially consistent, so neither the compiler nor the processor moves them before this. */
RUNTIME_CODE static void leave_work(struct worker *worker)
{
    atomic_store_explicit(&worker->state, MINICILK_SCHEDULING, memory_order_relaxed);
    atomic_fetch_sub_explicit(&minicilk_live.n_w, 1, memory_order_relaxed);
    atomic_store_explicit(&worker->base, NULL, memory_order_relaxed);
}

BASE_CODE int cilk_call_base(struct minicilk_worker *worker, struct minicilk_frame *frame);

/* The only caller of base bodies; exported, since profilers find the end of the user's frames by
 * it. While a worker's state is MINICILK_WORKING, this function is on its stack. */
BASE_CODE MINICILK_API int cilk_call_base(struct minicilk_worker *worker,
                                          struct minicilk_frame *frame)
{
    enter_work((struct worker *)worker, frame);
    minicilk_disturb();
    const int outcome = frame->body(worker, frame, frame->entry);
    minicilk_disturb();
    leave_work((struct worker *)worker);
    return outcome;
}

RUNTIME_CODE bool minicilk_sync_slowly(struct minicilk_worker *worker, struct minicilk_frame *frame,
                                       unsigned entry)
{
    const uint32_t join = atomic_load_explicit(&frame->join, memory_order_acquire);
    const bool waits = MINICILK_CHILDREN(join) != 0;
    frame->entry = (uint16_t)entry;
    if (minicilk_observer && waits)
        minicilk_observer->suspended(minicilk_number(worker), frame);
    else if (minicilk_observer)
        minicilk_observer->synced(minicilk_number(worker));
    minicilk_disturb();
    return waits;
}

RUNTIME_CODE bool minicilk_ended(const struct worker *worker)
{
    return worker == minicilk_runtime.workers ? atomic_load(&minicilk_runtime.root_done)
                                              : atomic_load(&minicilk_runtime.ending);
}

RUNTIME_CODE struct minicilk_frame *minicilk_join(struct minicilk_frame *parent)
{
    minicilk_expect(parent);
    const uint32_t join = atomic_fetch_sub(&parent->join, 1) & ~MINICILK_OBSERVED;
    if (join != (MINICILK_SUSPENDED | 1))
        return NULL;
    atomic_fetch_and_explicit(&parent->join, ~MINICILK_SUSPENDED, memory_order_relaxed);
    return parent;
}

/* The frame waits for its children. Returns the frame if they have ended meanwhile, else NULL. */
RUNTIME_CODE static struct minicilk_frame *suspend(struct minicilk_frame *frame)
{
    if (MINICILK_CHILDREN(atomic_fetch_or(&frame->join, MINICILK_SUSPENDED)) != 0)
        return NULL;
    atomic_fetch_and_explicit(&frame->join, ~MINICILK_SUSPENDED, memory_order_relaxed);
    return frame;
}

/* Ends a frame whose procedure has returned. Returns the frame to execute next, or NULL. */
RUNTIME_CODE static struct minicilk_frame *finish(struct worker *worker,
                                                  struct minicilk_frame *frame)
{
    if (MINICILK_CHILDREN(atomic_load(&frame->join)) != 0) {
        frame->entry = ENTRY_RETURNED;
        if (minicilk_observer)
            minicilk_observer->suspended(minicilk_number(&worker->inlined), frame);
        return suspend(frame);
    }
    if (minicilk_observer)
        minicilk_observer->ended(minicilk_number(&worker->inlined), frame);
    struct minicilk_frame *parent = frame->parent;
    minicilk_free_base(worker, frame);
    if (parent)
        return minicilk_join(parent);
    atomic_store(&minicilk_runtime.root_done, true);
    minicilk_wake(minicilk_runtime.workers);
    return NULL;
}

/* Runs the frame until its body returns. Returns the frame to execute next, or NULL. */
RUNTIME_CODE static struct minicilk_frame *execute(struct worker *worker,
                                                   struct minicilk_frame *frame)
{
    minicilk_expect(frame);
    if (minicilk_observer) {
        minicilk_tell_before(worker, worker->inlined.limit);
        minicilk_observer->resumed(minicilk_number(&worker->inlined), frame);
    }
    if (frame->entry == ENTRY_RETURNED)
        return finish(worker, frame);
    const int outcome = cilk_call_base(&worker->inlined, frame);
    minicilk_reset_deque(worker);
    minicilk_disturb();
    switch (outcome) {
    case MINICILK_DONE: return finish(worker, frame);
    case MINICILK_SUSPEND: return suspend(frame);
    default:
        return MINICILK_IN_MODE(MINICILK_EAGER_JOIN) ? worker->inlined.orphan
                                                     : minicilk_join(worker->inlined.orphan);
    }
}

RUNTIME_CODE void minicilk_schedule(struct worker *worker, struct minicilk_frame *frame)
{
    while (!minicilk_ended(worker)) {
        if (!frame)
            frame = minicilk_find_work(worker);
        if (frame)
            frame = execute(worker, frame);
    }
}
