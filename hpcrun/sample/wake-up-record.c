#include "hpcrun/sample/wake-up-record.h"

#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/sample/own-path.h"

static struct arena_wake_up *item(const struct thread *self, uint32_t index)
{
    return segments_item(&self->wake_ups, index);
}

static uint64_t least_length(const struct thread *self)
{
    uint64_t least = self->image->least_wake_up;
    return least ? least : WAKE_UP_TICKS;
}

/* Leaves out wake-ups of waits that are shorter than twice the least length. Each moves to the front, over one that has
 * moved or goes: so whatever is there in the meantime, its times ascend up to the last one that has moved, and a reader
 * skips the rest (lib/arena-format.h). */
static void thin(struct thread *self)
{
    struct arena_thread *image = self->image;
    uint64_t least = 2 * least_length(self);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < image->wake_ups; i++)
        if (item(self, i)->ticks - item(self, i)->began >= least)
            *item(self, kept++) = *item(self, i);
    image->least_wake_up = least;
    image->lost_wake_ups += image->wake_ups - kept;
    __atomic_store_n(&image->wake_ups, kept, __ATOMIC_RELEASE);
}

static void add(struct thread *self, const struct arena_wake_up *wake_up)
{
    struct arena_thread *image = self->image;
    while (image->wake_ups == MAX_WAKE_UPS)
        thin(self);
    struct arena_wake_up *place = image->wake_ups < self->wake_ups.count ? item(self, image->wake_ups)
                                                                         : segments_add(&self->wake_ups);
    if (!place || wake_up->ticks - wake_up->began < least_length(self)) {
        image->lost_wake_ups++;
        return;
    }
    *place = *wake_up;
    __atomic_store_n(&image->wake_ups, image->wake_ups + 1, __ATOMIC_RELEASE);
}

void wake_up_add(uint64_t since, uint64_t released, uint32_t waker)
{
    struct thread *self = thread_self;
    const struct arena_wake_up wake_up = {
        .ticks = ticks_now(), .began = since, .released = released, .thread = waker};
    if (!self || !self->traced || waker == self->index || wake_up.ticks - since < WAKE_UP_TICKS)
        return;
    uint64_t mask = own_path_begin(self);
    if (!atomic_load(&sampling.stopping))
        add(self, &wake_up);
    own_path_end(self, mask);
}

void wake_up_by_last(const volatile void *object, uint64_t since)
{
    uint32_t waker;
    uint64_t released;
    if (waker_find(object, since, &waker, &released))
        wake_up_add(since, released, waker);
}
