/* The step from a leaf that takes the stack of a made-up context. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/unwind/irregular-step.h"
#include "hpcrun/unwind/unwind.h"

#define CALL 0xe8
#define BP   0x5678u

static struct rule_cache cache;
static uint64_t stack[8];
static ucontext_t resumed, interrupted;

/* Behind a call, and where a function begins. */
static uint8_t code[64];
#define RA       (code + 32)
#define FUNCTION (code + 48)

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

STEP(make_context)
{
    memset(code, 0x90, sizeof code);
    RA[-5] = CALL;
    interrupted.uc_mcontext.gregs[REG_RDX] = (greg_t)address(&resumed);
    resumed.uc_mcontext.gregs[REG_RSP] = (greg_t)address(&stack[4]);
    resumed.uc_mcontext.gregs[REG_RBP] = BP;
    resumed.uc_mcontext.gregs[REG_RIP] = (greg_t)address(RA);
}

static bool steps(const uint64_t *sp, struct frame *caller)
{
    struct memory memory = {0};
    struct frame leaf = {.sp = address(sp), .bp = 0x1234};
    memory_begin_sample(&memory, &cache.pages);
    memory.guard = MEMORY_GUARD_KERNEL;
    return context_step(&interrupted, &memory, &leaf, caller);
}

TEST(the_resumed_context_is_the_caller)
{
    struct frame caller;
    assert_true(steps(&stack[4], &caller));
    assert_int_equal(caller.pc, address(RA) - 1);
    assert_int_equal(caller.sp, address(&stack[4]));
    assert_int_equal(caller.bp, BP);
}

TEST(a_new_context_begins_with_a_function)
{
    struct frame caller;
    resumed.uc_mcontext.gregs[REG_RIP] = (greg_t)address(FUNCTION);
    assert_true(steps(&stack[3], &caller)); /* its address was pushed */
    assert_int_equal(caller.pc, address(FUNCTION));
    assert_int_equal(caller.sp, address(&stack[4]));
}

TEST(a_context_with_another_stack_pointer_is_not_resumed)
{
    struct frame caller;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(steps(&stack[i], &caller), i == 3 || i == 4);
}

TEST(rdx_may_be_anything)
{
    struct frame caller;
    const uint64_t values[] = {0, 1, 0x1000, UINT64_MAX, UINT64_C(1) << 63, address(stack)};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        interrupted.uc_mcontext.gregs[REG_RDX] = (greg_t)values[i];
        assert_false(steps(&stack[4], &caller));
    }
}

EACH_TEST(make_context, NULL);
