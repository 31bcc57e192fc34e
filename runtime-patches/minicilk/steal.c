/* The thieves' side of the deques, and the owner's where the two meet. */
#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 6 "hpctoolkit:parallel-overhead:steal"
#endif
/* The owner found a thief at its last frame. Under the lock there is none: either the frame is
 * still there, or it is stolen for good. Then the child's end must be told to the stolen frame, but
 * not here: this C stack still shows it and its ancestors, which may only die when the scheduler
 * has cleared the worker's base. */
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

/* Under the victim's lock: takes the oldest frame. Its join count goes up here: the child that
 * the victim is in becomes a child elsewhere. */
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
    minicilk_disturb();
    return head->frame;
}

RUNTIME_CODE static struct minicilk_frame *steal_from(struct worker *victim)
{
    if (!has_work(victim))
        return NULL;
    pthread_mutex_lock(&victim->lock);
    struct minicilk_frame *frame = take_oldest(&victim->inlined);
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

/* Asks every other worker once, beginning anywhere. */
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

/* The owner has returned to the scheduler: what the deque still names was stolen, and every slot's
 * child but the last one's with it. */
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
