#include "hpcrun/sample/creation.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/sample/own-path.h"

#include <assert.h>

/* Copies the frames of the unwinder's path. */
static struct joinable *copy_frames(const struct thread *self)
{
    const struct unwinder *u = &self->unwinder;
    uint32_t count = u->depth < JOINABLE_FRAMES ? u->depth : JOINABLE_FRAMES;
    struct joinable *joinable = joinable_new(self->index, count);
    if (!joinable)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        joinable->frame[i] =
            (struct activation){.pc = u->path[i].pc, .sp = u->path[i].sp, .node = u->path[i].node};
    joinable->count = count;
    joinable->is_cut = count < u->depth;
    return joinable;
}

void creation_record(struct thread *created, bool is_joinable)
{
    struct thread *self = thread_self;
    ucontext_t context;
    created->creator = created->creation_node = created->creation_path->count = 0;
    created->joinable = NULL;
    uint64_t mask;
    if (!self || !own_path_begin(self, &mask))
        return;
    if (getcontext(&context) == 0) {
        created->creation_node = own_path_enter(self, &context);
        created->creator = created->creation_node ? self->index + 1 : 0;
        saved_path_copy(created->creation_path, self->creation_path, &self->cct,
                        &self->logical.lnotes, created->creation_node);
        if (is_joinable && created->creation_node)
            created->joinable = copy_frames(self);
    }
    own_path_end(self, mask);
}

/* The node of the innermost frame at this pc; CCT_ROOT if there is none. */
static uint32_t node_at(const struct unwinder *u, uint64_t pc)
{
    for (uint32_t i = u->depth; i-- > 0;)
        if (u->path[i].pc == pc)
            return u->path[i].node;
    return CCT_ROOT;
}

static uint32_t enter_and_save(struct thread *self, const ucontext_t *context,
                               struct saved_path *path, uint64_t pc)
{
    uint64_t mask;
    if (!own_path_begin(self, &mask))
        return CCT_ROOT;
    uint32_t node = own_path_enter(self, context) ? node_at(&self->unwinder, pc) : CCT_ROOT;
    saved_path_copy(path, self->creation_path, &self->cct, &self->logical.lnotes, node);
    own_path_end(self, mask);
    return node;
}

uint32_t creation_save_path(struct saved_path *path, uint64_t pc)
{
    struct thread *self = thread_self;
    ucontext_t context;
    path->count = 0;
    return getcontext(&context) == 0 ? enter_and_save(self, &context, path, pc) : CCT_ROOT;
}

/* The number of outermost frames that the two paths have in common. */
static uint32_t count_common(const struct unwinder *u, const struct joinable *joined)
{
    uint32_t common = 0, most = joined->count < u->depth ? joined->count : u->depth;
    while (common < most && joined->frame[common].pc == u->path[common].pc &&
           joined->frame[common].sp == u->path[common].sp)
        common++;
    return common;
}

/* Adds the join at the unwinder's path. The first frame in which the two paths differ is still the
 * same activation, at another call, unless it is hpcrun's own. Paths without a common frame are on
 * the stacks of two coroutines: no join is added. */
static void add_join(struct arena_thread *image, struct unwinder *u, const struct joinable *joined)
{
    uint32_t common = count_common(u, joined);
    if (common == 0)
        return;
    bool differ = common < joined->count && common < u->depth;
    uint32_t live = differ && !unwind_hidden(u, &u->path[common]) ? common : common - 1;
    image->joins[image->join_count] =
        (struct arena_join){.thread = joined->thread,
                            .node = joined->frame[live].node,
                            .ip = unwind_ip(u, &u->path[live]),
                            .is_cut = joined->is_cut && common == joined->count};
    __atomic_store_n(&image->join_count, image->join_count + 1, __ATOMIC_RELEASE);
}

/* This path is not entered into the tree, so the next one must not reuse it. */
void creation_joined(const struct joinable *joined)
{
    struct thread *self = thread_self;
    ucontext_t context;
    assert(joined->count <= JOINABLE_FRAMES);
    uint64_t mask;
    if (!self || self->index != joined->creator || joined->count == 0 || !own_path_begin(self, &mask))
        return;
    if (getcontext(&context) == 0 &&
        (self->image->join_count < ARENA_JOINS || flush_joins(self))) {
        if (unwind(&self->unwinder, &context) == UNWIND_COMPLETE)
            add_join(self->image, &self->unwinder, joined);
        unwind_forget(&self->unwinder);
    }
    own_path_end(self, mask);
}

void creation_inherit(struct thread *self)
{
    saved_path_forget_threads(self->creation_path);
    self->creation_node = saved_path_insert(self->creation_path, &self->cct, &self->logical.lnotes);
    self->creator = self->creation_node ? self->index + 1 : 0;
}
