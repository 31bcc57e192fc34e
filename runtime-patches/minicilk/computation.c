/* Computations: one at a time, the calling thread being worker 0; and messages of the runtime. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 12 "hpctoolkit:parallel-overhead:scheduler"
#endif
RUNTIME_CODE void minicilk_complain(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "minicilk: %s\n", text);
}

RUNTIME_CODE void minicilk_too_deep(void)
{
    minicilk_complain("spawns nest deeper than %d", MINICILK_DEPTH);
    abort();
}

RUNTIME_CODE void minicilk_lost(const char *name)
{
    minicilk_complain("%s: a spawn or sync stands inside a switch of the body", name);
    abort();
}

/* Allocates the root's frame, for its arguments, and reserves the runtime for this computation. */
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

/* Once the root is stolen, other workers' call paths continue in the caller of this function. What
 * an unwinder needs for that is stored first and is valid until this function returns. */
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
    if (minicilk_observer)
        minicilk_observer->run_begins(minicilk_number(&worker->inlined), root);
    atomic_store(&worker->state, MINICILK_SCHEDULING);
    atomic_store(&minicilk_live.running, 1);
    minicilk_schedule(worker, root);
    atomic_store(&minicilk_live.running, 0);
    atomic_store(&worker->state, MINICILK_OUTSIDE);
    if (minicilk_observer)
        minicilk_observer->run_ended(minicilk_number(&worker->inlined));
    minicilk_disturb();
    atomic_store(&minicilk_runtime.computing, false);
}
