#include "hpcrun/sample/thread-marks.h"

#include "hpcrun/base/fork-mark.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/own-path.h"

#include <string.h>

#define NOT_MARKED UINT32_MAX

/* The mark counts once it is complete. Returns false without memory. */
static bool add(struct thread *self, enum mark_kind kind, const char *name)
{
    struct arena_thread *image = self->image;
    struct arena_mark *mark = image->marks < self->marks.count ? segments_item(&self->marks, image->marks)
                                                               : segments_add(&self->marks);
    if (!mark)
        return false;
    mark->ticks = ticks_now();
    mark->kind = kind;
    struct text copy = TEXT(mark->name);
    text_add(&copy, name);
    __atomic_store_n(&image->marks, image->marks + 1, __ATOMIC_RELEASE);
    return true;
}

/* Of the name NULL: that of the mark `begin`. Returns the index of the new mark; NOT_MARKED if it is not recorded. A
 * sample meanwhile could move the marks, so there is none. */
static uint32_t add_quietly(struct thread *self, enum mark_kind kind, const char *name, uint32_t begin)
{
    uint64_t mask;
    bool is_added = false;
    if (fork_mark_is_wiped()) /* the image is not there */
        return NOT_MARKED;
    uint32_t index = self->image->marks;
    if (index < MAX_MARKS && own_path_begin(self, &mask)) {
        if (!name)
            name = ((const struct arena_mark *)segments_item(&self->marks, begin))->name;
        is_added = add(self, kind, name);
        own_path_end(self, mask);
    }
    self->image->lost_marks += !is_added;
    return is_added ? index : NOT_MARKED;
}

void thread_mark(enum mark_kind kind, const char *name)
{
    if (thread_self && thread_self->traced)
        add_quietly(thread_self, kind, name, NOT_MARKED);
}

/* ---- ranges ---- */

void thread_range_begin(const void *key, const char *name)
{
    struct thread *self = thread_self;
    if (!self || !self->traced)
        return;
    if (self->open_ranges < MAX_OPEN_RANGES)
        self->ranges[self->open_ranges] = (struct open_range){key, add_quietly(self, MARK_BEGIN, name, NOT_MARKED)};
    self->open_ranges++;
}

/* Returns the mark of its begin. Ranges above MAX_OPEN_RANGES have none: they are taken to be nested. */
static uint32_t take_range(struct thread *self, const void *key)
{
    if (self->open_ranges > MAX_OPEN_RANGES) {
        self->open_ranges--;
        return NOT_MARKED;
    }
    for (uint32_t i = self->open_ranges; i-- > 0;) {
        struct open_range range = self->ranges[i];
        if (range.key != key)
            continue;
        self->open_ranges--;
        memmove(&self->ranges[i], &self->ranges[i + 1], (self->open_ranges - i) * sizeof range);
        return range.mark;
    }
    return NOT_MARKED;
}

void thread_range_end(const void *key)
{
    uint32_t begin = thread_self ? take_range(thread_self, key) : NOT_MARKED;
    if (begin != NOT_MARKED)
        add_quietly(thread_self, MARK_END, NULL, begin);
}
