/* Computations: one at a time, the calling thread being worker 0. */
#include <errno.h>
#include <unistd.h>

#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 9 "hpctoolkit:parallel-overhead:scheduler"
#endif
/* The root's frame, for its arguments, and the right to run it. */
RUNTIME_CODE int minicilk_prepare(const char *name, minicilk_body *body, size_t size,
                                  struct minicilk_frame **root)
{
    struct runtime *runtime = &minicilk_runtime;
    if (!runtime->workers) {
        minicilk_complain("CILK_RUN(%s): minicilk_init was not called", name);
        return EINVAL;
    }
    if (atomic_exchange(&runtime->computing, true)) {
        minicilk_complain("CILK_RUN(%s): a computation runs already", name);
        return EBUSY;
    }
    *root = minicilk_new_root(&runtime->workers[0], body, size);
    if (*root)
        return 0;
    minicilk_complain("CILK_RUN(%s): no memory for its frame", name);
    atomic_store(&runtime->computing, false);
    return ENOMEM;
}

/* Other workers' call paths go on in the caller of this function once the root is stolen: what an
 * unwinder needs for that is noted before anything runs, and holds until this function returns. */
RUNTIME_CODE __attribute__((noinline)) void minicilk_run(struct minicilk_frame *root)
{
    const void *const *own_frame = __builtin_frame_address(0); /* saved rbp, return address */
    atomic_store(&minicilk_live.caller_pc, __builtin_return_address(0));
    atomic_store(&minicilk_live.caller_sp, own_frame + 2);
    atomic_store(&minicilk_live.caller_bp, own_frame[0]);

    struct worker *worker = &minicilk_runtime.workers[0];
    atomic_store(&worker->tid, gettid());
    atomic_store(&minicilk_runtime.root_done, false);
    minicilk_disturb();
    atomic_store(&worker->state, MINICILK_SCHEDULING);
    atomic_store(&minicilk_live.running, 1);
    minicilk_schedule(worker, root);
    atomic_store(&minicilk_live.running, 0);
    atomic_store(&worker->state, MINICILK_OUTSIDE);
    minicilk_disturb();
    atomic_store(&minicilk_runtime.computing, false);
}
