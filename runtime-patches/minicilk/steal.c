/* The thieves' side of the deques, and the owner's side under contention. */
#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 6 "hpctoolkit:parallel-overhead:steal"
#endif
/* A pop with a barrier of its own. Once the head is seen below the slot, no thief can take the
 * frame any more, so the observer may tell that the parent goes on. */
RUNTIME_CODE bool minicilk_pop_slowly(struct minicilk_worker *worker, struct minicilk_slot *slot,
                                      size_t size)
{
    struct worker *owner = (struct worker *)worker;
    const bool is_told = slot < owner->told;
    if (is_told)
        minicilk_observer->paused(minicilk_number(worker));
    minicilk_disturb();
    atomic_exchange_explicit(&worker->tail, slot, memory_order_seq_cst);
    minicilk_disturb();
    const bool ours = atomic_load_explicit(&worker->head, memory_order_seq_cst) <= slot ||
                      minicilk_pop_contended(worker, slot);
    if (ours && is_told) {
        minicilk_drop_spares(owner, slot);
        minicilk_tell_before(owner, worker->limit);
        minicilk_observer->returned(minicilk_number(worker));
    } else if (!MINICILK_IS_POOLED(size)) {
        minicilk_free_spare(slot);
    }
    return ours;
}

/* The owner met a thief at its last frame. Under the lock the frame is either still there or
 * stolen. If it is stolen, its join count must go down, but not here: this C stack still has the
 * frame and its ancestors, which must live until the scheduler has cleared the worker's base. */
RUNTIME_CODE bool minicilk_pop_contended(struct minicilk_worker *worker, struct minicilk_slot *slot)
{
    struct worker *owner = (struct worker *)worker;
    pthread_mutex_lock(&owner->lock);
    const bool ours = atomic_load_explicit(&worker->head, memory_order_relaxed) <= slot;
    if (!ours)
        atomic_store_explicit(&worker->tail, slot + 1, memory_order_relaxed);
    pthread_mutex_unlock(&owner->lock);
    if (ours)
        return true;
    worker->orphan = slot->frame;
    if (minicilk_observer) {
        minicilk_observer->orphaned(minicilk_number(worker));
        minicilk_drop_spares(owner, slot);
    }
    minicilk_disturb();
    if (MINICILK_IN_MODE(MINICILK_EAGER_JOIN)) {
        worker->orphan = minicilk_join(slot->frame);
        for (int i = 0; i < 1000; i++)
            minicilk_disturb();
    }
    return false;
}

RUNTIME_CODE static bool has_work(struct worker *victim)
{
    return atomic_load(&victim->inlined.head) < atomic_load(&victim->inlined.tail);
}

/* Takes the oldest frame; the caller holds the victim's lock. The frame's join count goes up,
 * because the child that the victim runs is now a child on another worker. */
RUNTIME_CODE static struct minicilk_frame *take_oldest(struct minicilk_worker *victim)
{
    struct minicilk_slot *head = atomic_load_explicit(&victim->head, memory_order_relaxed);
    atomic_exchange_explicit(&victim->head, head + 1, memory_order_seq_cst);
    minicilk_barrier_everywhere();
    minicilk_disturb();
    if (head + 1 > atomic_load_explicit(&victim->tail, memory_order_seq_cst)) {
        atomic_store_explicit(&victim->head, head, memory_order_relaxed);
        return NULL;
    }
    minicilk_expect(head->frame);
    atomic_fetch_add_explicit(&head->frame->join, 1, memory_order_relaxed);
    if (minicilk_observer) /* the thief tells what it executes */
        atomic_fetch_or_explicit(&head->frame->join, MINICILK_OBSERVED, memory_order_relaxed);
    minicilk_disturb();
    return head->frame;
}

RUNTIME_CODE static struct minicilk_frame *steal_from(struct worker *victim)
{
    if (!has_work(victim))
        return NULL;
    pthread_mutex_lock(&victim->lock);
    struct minicilk_frame *frame = take_oldest(&victim->inlined);
    if (frame && minicilk_observer)
        minicilk_observer->stolen(minicilk_number(&victim->inlined), frame);
    pthread_mutex_unlock(&victim->lock);
    return frame;
}

RUNTIME_CODE static unsigned next_random(struct worker *worker)
{
    unsigned x = worker->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return worker->random = x;
}

/* Tries every other worker once, starting at a random one. */
RUNTIME_CODE struct minicilk_frame *minicilk_steal(struct worker *thief)
{
    const unsigned count = (unsigned)minicilk_runtime.count;
    unsigned number = next_random(thief) % count;
    for (unsigned i = 0; i < count; i++, number = number + 1 == count ? 0 : number + 1) {
        struct worker *victim = &minicilk_runtime.workers[number];
        struct minicilk_frame *frame = victim == thief ? NULL : steal_from(victim);
        if (frame)
            return frame;
    }
    return NULL;
}

RUNTIME_CODE bool minicilk_work_visible(void)
{
    for (int i = 0; i < minicilk_runtime.count; i++) {
        if (has_work(&minicilk_runtime.workers[i]))
            return true;
    }
    return false;
}

/* Empties the deque after the owner has returned to the scheduler. The frames that it still names
 * were stolen, together with the spare frames of all slots but the last. */
RUNTIME_CODE void minicilk_reset_deque(struct worker *worker)
{
    struct minicilk_slot *tail = atomic_load_explicit(&worker->inlined.tail, memory_order_relaxed);
    if (tail == worker->slots)
        return;
    for (struct minicilk_slot *slot = worker->slots; slot + 1 < tail; slot++)
        slot->spare = NULL;
    pthread_mutex_lock(&worker->lock);
    atomic_store_explicit(&worker->inlined.head, worker->slots, memory_order_relaxed);
    atomic_store_explicit(&worker->inlined.tail, worker->slots, memory_order_relaxed);
    pthread_mutex_unlock(&worker->lock);
}
