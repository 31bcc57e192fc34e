#include "agents/openblas/blas-calls.h"

#include "agents/common/body-links.h"
#include "agents/openblas/blas-functions.h"

#include <errno.h>
#include <stdlib.h>

/* Kept in a thread's slot. */
struct blas_call {
    struct creation_context context; /* first: agents find it here */
    bool has_end;                    /* exec_blas or exec_blas_async_wait of the agent ends it; else nothing does */
};

static bool is_in(uint64_t address, uint64_t low, uint64_t high)
{
    return address >= low && address < high;
}

/* Whether a place on a thread's stack is outside of the call's frame: then the call has ended. */
static bool has_left(const struct blas_call *call, uint64_t place, uint64_t low, uint64_t high)
{
    return !call->has_end && is_in(call->context.sp, low, place) && place < high;
}

/* Whether a thread waits, outside of its call. */
static bool waits_outside(const struct agent_slot *slot, const struct blas_call *call)
{
    return atomic_load(&slot->state) == AGENT_SLOT_WAITING &&
           has_left(call, slot->frame, atomic_load(&slot->stack_low), atomic_load(&slot->stack_high));
}

uint64_t blas_only_call(const struct agent_slots *slots, uint64_t start, uint64_t end)
{
    uint32_t slots_end = atomic_load_explicit(&slots->end, memory_order_acquire);
    uint64_t only = 0;
    for (uint32_t i = 0; i < slots_end; i++) {
        const struct agent_slot *slot = agent_slot_at(slots, i);
        const struct blas_call *its = __atomic_load_n(&slot->openblas.own, __ATOMIC_ACQUIRE);
        if (!its || !is_in(its->context.pc, start, end) || waits_outside(slot, its))
            continue;
        if (only)
            return 0;
        only = (uint64_t)its;
    }
    return only;
}

void blas_forget_left_call(const struct agent_cursor *cursor)
{
    struct agent_slot *slot = slot_own();
    const struct blas_call *call = slot ? slot->openblas.own : NULL;
    if (call && has_left(call, cursor->leaf.sp, cursor->stack_low, cursor->stack_high))
        __atomic_store_n(&slot->openblas.own, NULL, __ATOMIC_RELEASE);
}

/* Begins a call. NULL: it is a part of one of the same thread, or there is no memory or nothing to measure. If the
 * frame of a call with has_end is not around this one, that call has ended by a jump. */
static struct creation_context *begin(uint64_t pc, uint64_t sp, uint64_t bp, uint64_t body, bool has_end)
{
    struct agent_slot *slot = slot_own();
    struct blas_call *outer = slot ? slot->openblas.own : NULL;
    if (!slot || (outer && outer->has_end && outer->context.sp > sp))
        return NULL;
    if (!slot->openblas.kept)
        slot->openblas.kept = calloc(1, sizeof *outer);
    struct blas_call *call = slot->openblas.kept;
    if (!call)
        return NULL;
    __atomic_store_n(&slot->openblas.own, NULL, __ATOMIC_RELEASE);
    call->context = (struct creation_context){
        .kind = CONTEXT_ON_STACK, .pc = pc, .sp = sp, .bp = bp, .body = body, .thread = slot->thread};
    call->has_end = has_end;
    __atomic_store_n(&slot->openblas.own, call, __ATOMIC_RELEASE);
    return &call->context;
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
    const struct creation_context *context = begin(CALLER_PC, CALLER_SP, CALLER_BP, (uint64_t)real, true);
    long result = real(count, queue);
    end(context);
    return result;
}

long call_exec_blas_async(long count, void *queue)
{
    begin(CALLER_PC, CALLER_SP, CALLER_BP, 0, true);
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

/* exec_blas asks whether it is called in a parallel region, if its work is for several threads. */
parallel_code omp_in_parallel __attribute__((visibility("default")));

int omp_in_parallel(void)
{
    int error = errno;
    bool is_openblas;
    parallel_code *real = blas_in_parallel_for(CALLER_PC, &is_openblas);
    if (is_openblas)
        begin(CALLER_PC, CALLER_SP, CALLER_BP, 0, false);
    errno = error;
    return real ? real() : 0;
}
