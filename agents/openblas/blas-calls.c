#include "agents/openblas/blas-calls.h"

#include "agents/common/body-links.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- copies of the library ---- */

/* Six parameters, in case that it is a function of the program with the same name. */
typedef long blas_function(long, long, long, long, long, long);

struct blas_functions {
    struct runtime_copy copy;
    blas_function *exec_blas, *exec_blas_async, *exec_blas_async_wait;
};

static void fill(struct runtime_copy *copy, const struct link_map *map, void *library)
{
    struct blas_functions *to = (struct blas_functions *)copy;
    (void)map;
    to->exec_blas = (blas_function *)(uintptr_t)dlsym(library, "exec_blas");
    to->exec_blas_async = (blas_function *)(uintptr_t)dlsym(library, "exec_blas_async");
    to->exec_blas_async_wait = (blas_function *)(uintptr_t)dlsym(library, "exec_blas_async_wait");
}

static struct blas_functions reserve;
static struct runtime_copies copies = {
    .symbol = "exec_blas",
    .copy_bytes = sizeof reserve,
    .reserve = &reserve,
    .fill = fill,
};

void blas_add_module(uint64_t address)
{
    copy_of_module(&copies, address);
}

const struct runtime_copy *blas_copy_at(uint64_t address)
{
    return copy_at(&copies, address);
}

void blas_forget_module(uint64_t start, uint64_t end)
{
    copies_forget_module(&copies, start, end);
}

/* Without OpenBLAS, a call can neither be passed on nor be left out. */
static _Noreturn void end_process(void)
{
    static const char why[] = "hpcrun: a function of OpenBLAS was called, but there is no OpenBLAS\n";
    if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
        _exit(1);
    abort();
}

static const struct blas_functions *functions_for(uint64_t caller)
{
    const struct runtime_copy *copy = copy_of_caller(&copies, caller);
    if (!copy)
        copy = copy_any(&copies);
    if (!copy)
        end_process();
    return (const struct blas_functions *)copy;
}

/* ---- calls ---- */

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

#define PARAMETERS long a, long b, long c, long d, long e, long f
#define EXPORTED   __attribute__((visibility("default")))

EXPORTED long exec_blas(PARAMETERS);
EXPORTED long exec_blas_async(PARAMETERS);
EXPORTED long exec_blas_async_wait(PARAMETERS);

long exec_blas(PARAMETERS)
{
    const struct blas_functions *real = functions_for(CALLER_PC);
    const struct creation_context *context = begin(CALLER_PC, CALLER_SP, CALLER_BP, (uint64_t)real->exec_blas);
    long result = real->exec_blas(a, b, c, d, e, f);
    end(context);
    return result;
}

long exec_blas_async(PARAMETERS)
{
    begin(CALLER_PC, CALLER_SP, CALLER_BP, 0);
    return functions_for(CALLER_PC)->exec_blas_async(a, b, c, d, e, f);
}

/* exec_blas calls it, too: then the call goes on. */
long exec_blas_async_wait(PARAMETERS)
{
    long result = functions_for(CALLER_PC)->exec_blas_async_wait(a, b, c, d, e, f);
    const struct agent_slot *slot = slot_own();
    const struct creation_context *context = slot ? slot->openblas.own : NULL;
    if (context && context->sp == CALLER_SP)
        end(context);
    return result;
}
