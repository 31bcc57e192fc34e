#include "agents/openblas/blas-calls.h"

#include "agents/common/body-links.h"
#include "agents/openblas/blas-functions.h"

#include <stdlib.h>

uint64_t blas_only_call(const struct agent_slots *slots)
{
    uint32_t end = atomic_load_explicit(&slots->end, memory_order_acquire);
    uint64_t only = 0;
    for (uint32_t i = 0; i < end; i++) {
        void *its = __atomic_load_n(&agent_slot_at(slots, i)->openblas.own, __ATOMIC_ACQUIRE);
        if (its && only)
            return 0;
        only = its ? (uint64_t)its : only;
    }
    return only;
}

/* Begins a call. NULL: it is a part of one of the same thread, or there is no memory or nothing to measure. One whose
 * frame is not around this one has ended by a jump. */
static struct creation_context *begin(uint64_t pc, uint64_t sp, uint64_t bp, uint64_t body)
{
    struct agent_slot *slot = slot_own();
    struct creation_context *outer = slot ? slot->openblas.own : NULL;
    if (!slot || (outer && outer->sp > sp))
        return NULL;
    if (!slot->openblas.kept)
        slot->openblas.kept = calloc(1, sizeof *outer);
    struct creation_context *context = slot->openblas.kept;
    if (!context)
        return NULL;
    *context = (struct creation_context){
        .kind = CONTEXT_ON_STACK, .pc = pc, .sp = sp, .bp = bp, .body = body, .thread = slot->thread};
    __atomic_store_n(&slot->openblas.own, context, __ATOMIC_RELEASE);
    return context;
}

static void end(const struct creation_context *context)
{
    struct agent_slot *slot = slot_own();
    if (context && slot)
        __atomic_store_n(&slot->openblas.own, NULL, __ATOMIC_RELEASE);
}

long call_exec_blas(long count, void *queue)
{
    blas_code *real = blas_function_for(EXEC_BLAS, CALLER_PC);
    const struct creation_context *context = begin(CALLER_PC, CALLER_SP, CALLER_BP, (uint64_t)real);
    long result = real(count, queue);
    end(context);
    return result;
}

long call_exec_blas_async(long count, void *queue)
{
    begin(CALLER_PC, CALLER_SP, CALLER_BP, 0);
    return blas_function_for(EXEC_BLAS_ASYNC, CALLER_PC)(count, queue);
}

/* exec_blas calls it, too: then the call goes on. */
long call_exec_blas_async_wait(long count, void *queue)
{
    long result = blas_function_for(EXEC_BLAS_ASYNC_WAIT, CALLER_PC)(count, queue);
    const struct agent_slot *slot = slot_own();
    const struct creation_context *context = slot ? slot->openblas.own : NULL;
    if (context && context->sp == CALLER_SP)
        end(context);
    return result;
}
