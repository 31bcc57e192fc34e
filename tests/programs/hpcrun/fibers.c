/* fibers KIND [MS]: two fibers on stacks of their own, whose first functions have return addresses that
 * somebody made up. KIND is one of
 *
 *     zero      0
 *     data      an address of data
 *     function  where a function begins, as with libco
 *     adjacent  where a function begins, after a call that never returns, as libcoro's abort
 *     end       code without unwind information that no call is before, as with Boost.Context
 *     caller    code without unwind information that has called the first function, and never returns
 *
 * Above each stack lie return addresses, of nobody. For MS ms of CPU time the fibers work in turns; then
 * the program prints "fine" and lines "FUNCTION... NS" as stacks does. Without MS each of them goes on a
 * few times, between two int3. */
#include "burn.h"

#define STACK_WORDS 8192
#define ABOVE_WORDS 512
#define SLICE       50000 /* ns that a fiber works before it yields */
#define ROUNDS      3

static void *scheduler_sp, *fiber_sp[2];
static uint64_t fiber_ns[2];
static uint64_t slice;
static uint64_t stack[2][STACK_WORDS + ABOVE_WORDS] __attribute__((aligned(64)));

/* Pushes the registers of one stack, and pops those of the other. */
void switch_stacks(void **from, void *to);
extern const char begin_stub[], end_stub[], call_stub[], call_exit[], after_exit[];
__asm__(".text\n"
        ".type switch_stacks, @function\n"
        "switch_stacks: push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "    mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "    pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size switch_stacks, . - switch_stacks\n"
        ".type begin_stub, @function\n"
        "begin_stub: push %rbp\n jmp *%rbx\n"
        "end_stub: xor %edi, %edi\n call _exit@PLT\n hlt\n"
        ".size begin_stub, . - begin_stub\n"
        ".type call_stub, @function\n"
        "call_stub: call *%rbx\n mov %rbx, %rdi\n call ends\n"
        ".size call_stub, . - call_stub\n"
        ".cfi_startproc\n ret\n .cfi_endproc\n" /* not a part of call_stub */
        ".type call_exit, @function\n"
        "call_exit: .cfi_startproc\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n call _exit@PLT\n"
        "    .cfi_endproc\n"
        ".size call_exit, . - call_exit\n"
        ".type after_exit, @function\n"
        "after_exit: .cfi_startproc\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n call _exit@PLT\n hlt\n"
        "    .cfi_endproc\n"
        ".size after_exit, . - after_exit\n");

void ends(void) __attribute__((noreturn, used));
void ends(void)
{
    exit(1);
}

__attribute__((noinline)) static void resume(int which)
{
    switch_stacks(&scheduler_sp, fiber_sp[which]);
    burn_sink++;
}

__attribute__((noinline)) static void yield(int which)
{
    switch_stacks(&fiber_sp[which], scheduler_sp);
    burn_sink++;
}

static uint64_t now(void)
{
    return slice ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

static void work(void)
{
    if (slice)
        burn(slice);
    burn_sink++;
}

#define FIBER(number)                                                                              \
    __attribute__((noinline)) static void work_##number(void)                                      \
    {                                                                                              \
        work();                                                                                    \
        burn_sink += number;                                                                       \
    }                                                                                              \
    __attribute__((noinline)) static void first_##number(void)                                     \
    {                                                                                              \
        for (;;) {                                                                                 \
            uint64_t begin = now();                                                                \
            work_##number();                                                                       \
            fiber_ns[number] += now() - begin;                                                     \
            yield(number);                                                                         \
        }                                                                                          \
    }

FIBER(0)
FIBER(1)

/* How a fiber begins: the registers rbx and rbp, where it goes on, and the word above. */
struct begin {
    const char *kind;
    const void *rbp, *entry, *ra;
};

static const char data[64];

/* An entry of NULL is the first function. */
static const struct begin begins[] = {
    {"zero", NULL, NULL, NULL},
    {"data", NULL, NULL, data + 16},
    {"function", NULL, NULL, (const void *)ends},
    {"adjacent", NULL, NULL, after_exit},
    {"end", end_stub, begin_stub, NULL},
    {"caller", NULL, call_stub, NULL},
};

/* The words of the stack are in the order in which switch_stacks pops them. */
static void make_fiber(int which, const struct begin *begin, void (*first)(void))
{
    uint64_t *top = &stack[which][STACK_WORDS], *at = top;
    for (int i = 0; i < ABOVE_WORDS; i++)
        top[i] = (uint64_t)(uintptr_t)call_stub + 2; /* after a call */
    if (!begin->entry)
        *--at = (uint64_t)(uintptr_t)begin->ra;
    *--at = begin->entry ? (uint64_t)(uintptr_t)begin->entry : (uint64_t)(uintptr_t)first;
    *--at = (uint64_t)(uintptr_t)begin->rbp;
    *--at = (uint64_t)(uintptr_t)first; /* rbx */
    memset(at - 4, 0, 4 * sizeof *at);
    fiber_sp[which] = at - 4;
}

int main(int argc, char **argv)
{
    const struct begin *begin = NULL;
    for (unsigned i = 0; argc > 1 && i < sizeof begins / sizeof *begins; i++)
        if (strcmp(begins[i].kind, argv[1]) == 0)
            begin = &begins[i];
    if (!begin)
        return 1;
    make_fiber(0, begin, first_0);
    make_fiber(1, begin, first_1);
    if (argc == 2) {
        resume(0); /* the fibers begin */
        resume(1);
        __asm__ volatile("int3");
        for (int i = 0; i < 2 * ROUNDS; i++)
            resume(i % 2);
        __asm__ volatile("int3");
        return 0;
    }
    slice = SLICE;
    uint64_t end = now() + strtoull(argv[2], NULL, 10) * 1000000;
    for (int i = 0; now() < end; i++)
        resume(i % 2);
    printf("fine\nwork_0 first_0 %lu\nwork_1 first_1 %lu\n", fiber_ns[0], fiber_ns[1]);
    return 0;
}
