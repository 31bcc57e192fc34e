#include "hpcrun/sample/thread-marks.h"

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/own-path.h"

/* The mark counts once it is complete. */
static void add(struct thread *self, enum mark_kind kind, const char *name)
{
    struct arena_thread *image = self->image;
    struct arena_mark *mark = NULL;
    if (image->marks < MAX_MARKS)
        mark = image->marks < self->marks.count ? segments_item(&self->marks, image->marks)
                                                : segments_add(&self->marks);
    if (!mark) {
        image->lost_marks++;
        return;
    }
    mark->ticks = ticks_now();
    mark->kind = kind;
    struct text copy = TEXT(mark->name);
    text_add(&copy, name);
    __atomic_store_n(&image->marks, image->marks + 1, __ATOMIC_RELEASE);
}

void thread_mark(enum mark_kind kind, const char *name)
{
    struct thread *self = thread_self;
    if (!self || !self->traced)
        return;
    uint64_t mask = own_path_begin(self);
    if (!atomic_load(&sampling.stopping))
        add(self, kind, name);
    own_path_end(self, mask);
}
