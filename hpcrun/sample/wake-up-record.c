#include "hpcrun/sample/wake-up-record.h"

#include "agents/agent.h"
#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/sample/own-path.h"

static struct arena_wake_up *item(const struct thread *self, uint32_t index)
{
    return segments_item(&self->wake_ups, index);
}

static bool stays(const struct arena_wake_up *wake_up, uint32_t scale)
{
    uint64_t window = (wake_up->ticks - process.began_ticks) / WAKE_UP_WINDOW;
    return window % (UINT64_C(1) << scale) == 0 || (wake_up->ticks - wake_up->began) >> scale >= WAKE_UP_WINDOW;
}

/* Leaves out about half of them. Each that stays moves to the front, over one that has moved or goes: so whatever is
 * there in the meantime, its times ascend up to the last one that has moved, and a reader skips the rest. */
static void thin(struct thread *self)
{
    struct arena_thread *image = self->image;
    uint32_t kept = 0, scale = image->wake_up_scale + 1;
    for (uint32_t i = 0; i < image->wake_ups; i++)
        if (stays(item(self, i), scale))
            *item(self, kept++) = *item(self, i);
    image->wake_up_scale = scale;
    image->lost_wake_ups += image->wake_ups - kept;
    __atomic_store_n(&image->wake_ups, kept, __ATOMIC_RELEASE);
}

/* A window has fewer than MAX_WAKE_UPS, so some scale leaves room. */
_Static_assert(WAKE_UP_WINDOW / WAKE_UP_TICKS < MAX_WAKE_UPS / 2, "room for the first window and for long waits");

static void add(struct thread *self, const struct arena_wake_up *wake_up)
{
    struct arena_thread *image = self->image;
    while (image->wake_ups == MAX_WAKE_UPS)
        thin(self);
    struct arena_wake_up *place = NULL;
    if (stays(wake_up, image->wake_up_scale))
        place = image->wake_ups < self->wake_ups.count ? item(self, image->wake_ups) : segments_add(&self->wake_ups);
    if (!place) {
        image->lost_wake_ups++;
        return;
    }
    *place = *wake_up;
    __atomic_store_n(&image->wake_ups, image->wake_ups + 1, __ATOMIC_RELEASE);
}

void wake_up_add(const struct arena_wake_up *wake_up)
{
    struct thread *self = thread_self;
    int64_t length = (int64_t)(wake_up->ticks - wake_up->began); /* negative if the CPUs' counters differ */
    if (!self || !self->traced || wake_up->thread == self->index || length < WAKE_UP_TICKS)
        return;
    uint64_t mask;
    if (!own_path_begin(self, &mask))
        return;
    add(self, wake_up);
    own_path_end(self, mask);
}

uint64_t hpctoolkit_lets_go(const volatile void *object)
{
    return object ? waker_note(object, WAKES_NEXT_HOLDER) : ticks_now();
}

bool hpctoolkit_waited(const volatile void *object, uint64_t since)
{
    uint64_t now = ticks_now();
    return now - since < WAKE_UP_TICKS || wake_up_by_last(object, since, now);
}

void hpctoolkit_woken_by(uint64_t thread, uint64_t since)
{
    uint32_t waker;
    struct arena_wake_up wake_up = {.ticks = ticks_now(), .began = since};
    if (!slot_thread_index(thread, &waker))
        return;
    wake_up.released = wake_up.ticks;
    wake_up.thread = waker;
    wake_up_add(&wake_up);
}

bool wake_up_by_last(const volatile void *object, uint64_t since, uint64_t now)
{
    uint32_t waker;
    struct arena_wake_up wake_up = {.ticks = now, .began = since};
    if (!waker_find(object, since, &waker, &wake_up.released))
        return false;
    wake_up.thread = waker;
    wake_up_add(&wake_up);
    return true;
}
