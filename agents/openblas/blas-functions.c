#include "agents/openblas/blas-functions.h"

#include "agents/common/loaded-modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the functions of the process that have these names ---- */

struct named_function {
    struct runtime_copy copy; /* the module that defines it */
    blas_code *code;
    bool is_openblas; /* else a library of the program has a function with the name of one of OpenBLAS's */
    parallel_code *_Atomic in_parallel; /* what the library would call without the agent; NULL: nothing */
};

/* Only OpenBLAS with threads of its own defines all three. */
static bool is_openblas(const struct link_map *map)
{
    return dynamic_symbol(map->l_ld, map->l_addr, "exec_blas") &&
           dynamic_symbol(map->l_ld, map->l_addr, "exec_blas_async") &&
           dynamic_symbol(map->l_ld, map->l_addr, "exec_blas_async_wait");
}

#define IN_PARALLEL "omp_in_parallel"

static void fill(struct runtime_copy *copy, const struct link_map *map, void *library, const char *name)
{
    struct named_function *to = (struct named_function *)copy;
    to->code = (blas_code *)(uintptr_t)dlsym(library, name);
    to->is_openblas = is_openblas(map);
    to->in_parallel = (parallel_code *)(uintptr_t)dlsym(RTLD_NEXT, IN_PARALLEL);
}

#define FILL(name)                                                                                                     \
    static void fill_##name(struct runtime_copy *copy, const struct link_map *map, void *library)                      \
    {                                                                                                                  \
        fill(copy, map, library, #name);                                                                               \
    }
FILL(exec_blas)
FILL(exec_blas_async)
FILL(exec_blas_async_wait)

static struct named_function reserve[BLAS_FUNCTIONS];
#define COPIES(which, name)                                                                                            \
    [which] = {.symbol = #name, .copy_bytes = sizeof *reserve, .reserve = &reserve[which], .fill = fill_##name}
static struct runtime_copies copies[BLAS_FUNCTIONS] = {
    COPIES(EXEC_BLAS, exec_blas),
    COPIES(EXEC_BLAS_ASYNC, exec_blas_async),
    COPIES(EXEC_BLAS_ASYNC_WAIT, exec_blas_async_wait),
};

/* A library that defines omp_in_parallel. */
struct omp_library {
    struct runtime_copy copy;
    parallel_code *code;
};

static void fill_omp(struct runtime_copy *copy, const struct link_map *map, void *library)
{
    (void)map;
    ((struct omp_library *)copy)->code = (parallel_code *)(uintptr_t)dlsym(library, IN_PARALLEL);
}

static struct omp_library omp_reserve;
static struct runtime_copies omp_copies = {
    .symbol = IN_PARALLEL, .copy_bytes = sizeof omp_reserve, .reserve = &omp_reserve, .fill = fill_omp};

void blas_add_module(uint64_t address)
{
    for (unsigned i = 0; i < BLAS_FUNCTIONS; i++)
        copy_of_module(&copies[i], address);
}

const struct runtime_copy *blas_copy_at(uint64_t address)
{
    const struct runtime_copy *copy = copy_at(&copies[EXEC_BLAS], address);
    return copy && ((const struct named_function *)copy)->is_openblas ? copy : NULL;
}

void blas_forget_module(uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < BLAS_FUNCTIONS; i++)
        copies_forget_module(&copies[i], start, end);
    copies_forget_module(&omp_copies, start, end);
    for (struct runtime_copy *copy = atomic_load(&copies[EXEC_BLAS].first); copy; copy = copy->next) {
        parallel_code *_Atomic *its = &((struct named_function *)copy)->in_parallel;
        if (is_in_range((uint64_t)atomic_load(its), (struct code_range){start, end}))
            atomic_store(its, NULL);
    }
}

/* Without such a function, a call can neither be passed on nor be left out. */
static _Noreturn void end_process(void)
{
    static const char why[] = "hpcrun: a function of OpenBLAS was called, but there is no OpenBLAS\n";
    if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
        _exit(1);
    abort();
}

static const struct named_function *function_for(enum blas_function which, uint64_t caller)
{
    const struct runtime_copy *copy = copy_of_caller(&copies[which], caller);
    if (!copy)
        copy = copy_any(&copies[which]);
    if (!copy)
        end_process();
    return (const struct named_function *)copy;
}

blas_code *blas_function_for(enum blas_function which, uint64_t caller)
{
    return function_for(which, caller)->code;
}

parallel_code *blas_in_parallel_for(uint64_t caller, bool *is_openblas)
{
    const struct named_function *exec = (const struct named_function *)blas_copy_at(caller);
    *is_openblas = exec;
    if (exec)
        return atomic_load(&exec->in_parallel);
    const struct runtime_copy *copy = copy_of_caller(&omp_copies, caller);
    return copy ? ((const struct omp_library *)copy)->code : NULL;
}

/* ---- what the agent exports ---- */

blas_code *blas_target(enum blas_function which, uint64_t caller);

/* Where a call goes. */
blas_code *blas_target(enum blas_function which, uint64_t caller)
{
    static blas_code *const own[] = {call_exec_blas, call_exec_blas_async, call_exec_blas_async_wait};
    int error = errno;
    const struct named_function *function = function_for(which, caller);
    errno = error;
    return function->is_openblas ? own[which] : function->code;
}

/* All registers in which a function may get something are kept: also rax (number of vector registers), r10 (of nested
 * functions), those of the x87, and of vector registers the halves that fxsave knows. */
/* clang-format off */
#define PUSH(register) "    push %" #register "\n"
#define POP(register)  "    pop %" #register "\n"
#define EXPORTED_JUMP(name, which)                                                                                     \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n"                                                                             \
            #name ":\n"                                                                                                \
            "    .cfi_startproc\n"                                                                                     \
            PUSH(rbp)                                                                                                  \
            "    .cfi_def_cfa_offset 16\n"                                                                             \
            "    .cfi_offset %rbp, -16\n"                                                                              \
            "    mov %rsp, %rbp\n"                                                                                     \
            "    .cfi_def_cfa_register %rbp\n"                                                                         \
            PUSH(rax) PUSH(rdi) PUSH(rsi) PUSH(rdx) PUSH(rcx) PUSH(r8) PUSH(r9) PUSH(r10)                              \
            "    sub $512, %rsp\n" /* at a multiple of 16, as fxsave wants it */                                       \
            "    fxsave64 (%rsp)\n"                                                                                    \
            "    mov $" #which ", %edi\n"                                                                              \
            "    mov 8(%rbp), %rsi\n"                                                                                  \
            "    call blas_target\n"                                                                                   \
            "    mov %rax, %r11\n"                                                                                     \
            "    fxrstor64 (%rsp)\n"                                                                                   \
            "    add $512, %rsp\n"                                                                                     \
            POP(r10) POP(r9) POP(r8) POP(rcx) POP(rdx) POP(rsi) POP(rdi) POP(rax)                                      \
            POP(rbp)                                                                                                   \
            "    .cfi_def_cfa %rsp, 8\n"                                                                               \
            "    jmp *%r11\n"                                                                                          \
            "    .cfi_endproc\n"                                                                                       \
            ".size " #name ", .-" #name "\n")
/* clang-format on */

EXPORTED_JUMP(exec_blas, 0);
EXPORTED_JUMP(exec_blas_async, 1);
EXPORTED_JUMP(exec_blas_async_wait, 2);
_Static_assert(EXEC_BLAS == 0 && EXEC_BLAS_ASYNC == 1 && EXEC_BLAS_ASYNC_WAIT == 2, "as in the code above");
