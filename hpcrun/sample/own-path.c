#include "hpcrun/sample/own-path.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/arena-file.h"

bool own_path_begin(struct thread *self, uint64_t *mask)
{
    uint64_t faults = sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS);
    if (!process.active || !process_is_ours())
        return false;
    *mask = sys_mask(SIG_BLOCK, ~faults);
    atomic_store(&self->busy, true);
    if (!atomic_load(&sampling.stopping))
        return true;
    own_path_end(self, *mask);
    return false;
}

void own_path_end(struct thread *self, uint64_t mask)
{
    if (!atomic_load(&sampling.stopping)) /* else another thread may be writing this one's data */
        arena_file_commit(self, ticks_now());
    atomic_store_explicit(&self->busy, false, memory_order_release);
    sys_mask(SIG_SETMASK, mask);
}

uint32_t own_path_enter(struct thread *self, const ucontext_t *context)
{
    arena_file_begin_thread(self);
    enum unwind_end end = unwind(&self->unwinder, context);
    const struct thread_status *status =
        agent_query_status(&self->logical.query, &self->unwinder, self->tid);
    bool has_path = status->kind != AGENT_IDLE && status->kind != AGENT_RUNTIME_OWNED;
    uint32_t node = CCT_NO_MEMORY;
    if (end == UNWIND_COMPLETE && has_path)
        node = logical_enter(&self->logical, &self->unwinder, &self->cct, end,
                             agent_query_path(&self->logical.query));
    if (node != CCT_NO_MEMORY)
        return node;
    unwind_forget(&self->unwinder);
    return 0;
}
