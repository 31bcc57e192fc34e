#include "hpcrun/sample/creation.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

/* The node of the path in `context` in the calling thread's tree; 0 if it can't be had. */
static uint32_t enter(struct thread *self, const ucontext_t *context)
{
    enum unwind_end end = unwind(&self->unwinder, context);
    const struct stance *stance =
        consult_stance(&self->logical.consult, &self->unwinder, self->tid);
    bool has_path = stance->class == AGENT_WORKING || stance->class == AGENT_FOREIGN;
    uint32_t node = CCT_NO_MEMORY;
    if (end == UNWIND_COMPLETE && has_path)
        node = logical_enter(&self->logical, &self->unwinder, &self->cct, end,
                             consult_path(&self->logical.consult));
    if (node != CCT_NO_MEMORY)
        return node;
    unwind_forget(&self->unwinder);
    return 0;
}

/* While this thread is busy no sample may come to it. Faults must: reading memory is guarded. */
void creation_note(struct thread *created)
{
    struct thread *self = thread_self;
    ucontext_t context;
    created->creator = created->creation_node = created->creation_path->count = 0;
    if (!self)
        return;
    uint64_t faults = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS);
    uint64_t mask = sys_mask(SIG_BLOCK, ~faults);
    atomic_store(&self->busy, true);
    if (!atomic_load(&sampling.stopping) && getcontext(&context) == 0) {
        created->creation_node = enter(self, &context);
        created->creator = created->creation_node ? self->index + 1 : 0;
        kept_path_take(created->creation_path, self->creation_path, &self->cct,
                       &self->logical.lnotes, created->creation_node);
    }
    atomic_store_explicit(&self->busy, false, memory_order_release);
    sys_mask(SIG_SETMASK, mask);
}

void creation_inherit(struct thread *self)
{
    self->creation_node = kept_path_enter(self->creation_path, &self->cct, &self->logical.lnotes);
    self->creator = self->creation_node ? self->index + 1 : 0;
}
