/* Old stack pointers that code without unwind information keeps in registers. */
#include "tests/unit/hpcrun/made_stack.h"

/* Code in a module, without unwind information, that says nothing about its frame, with so much code
 * behind it that nothing else is in reach. */
void lonely_code(void);
__asm__(".text\n"
        "lonely_code: jmp *(%rax, %rbx, 8)\n"
        ".skip 40000, 0xcc\n");

/* Code in a module, without unwind information, whose old stack pointer is in rbx. Before its end
 * stands the end of a function that has kept it in r12. */
void aligned_code(void), end_of_aligned_code(void);
__asm__(".text\n"
        "aligned_code: .fill 300, 1, 0x90\n"
        "mov %r12, %rsp\n"
        "ret\n"
        ".fill 300, 1, 0x90\n"
        "mov %rbx, %rsp\n"
        "mov 8(%rsp), %rbp\n"
        "mov (%rsp), %rbx\n"
        "add $96, %rsp\n"
        "end_of_aligned_code: ret\n"
        "mov %rbx, %rsp\n"
        "ret\n"
        ".skip 16, 0xcc\n");

/* Code like that, whose end is near: its old stack pointer is in r10, 8 bytes above. */
void near_code(void), copied_code(void);
__asm__(".text\n"
        "near_code: .fill 100, 1, 0x90\n"
        "lea -8(%r10), %rsp\n"
        "pop %rbp\n"
        "ret\n"
        "copied_code: mov %rsp, %r10\n"
        "and $-64, %rsp\n"
        "mov %r10, %rsp\n"
        "add $8, %rsp\n"
        "ret\n"
        ".skip 16, 0xcc\n");

/* The registers of a leaf. */
static ucontext_t leaf;

static int clear_all(void **state)
{
    memset(&leaf, 0, sizeof leaf);
    return clear(state);
}

/* A leaf whose sp is at a word of the stack. */
static struct frame leaf_at(void (*at)(void), unsigned sp_word)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)at));
    frame.sp = address(&stack[sp_word]);
    return frame;
}

/* The step from aligned_code, whose frame's sp is at a word of the stack and its old one at another. */
static bool step_from_aligned(unsigned sp_word, unsigned old_word, bool is_leaf,
                              struct frame *caller)
{
    struct memory memory = by_kernel();
    struct frame frame = leaf_at(aligned_code, sp_word);
    leaf.uc_mcontext.gregs[REG_RBX] = (greg_t)address(&stack[old_word]);
    struct bare_frame bare = {&frame, is_leaf ? &leaf : NULL, true, false};
    return fallback_step(&memory, &cache, &bare, caller) == STEP_OK;
}

TEST(the_old_sp_is_in_a_register)
{
    struct frame caller;
    stack[101] = 99;               /* rbp */
    stack[108] = address(OTHER);   /* left by an earlier call */
    stack[100 + 12] = address(RA); /* behind the 96 bytes */
    for (unsigned i = 0; i < 2; i++) {
        assert_true(step_from_aligned(0, 100, true, &caller));
        expect_caller(&caller, RA, 113);
        assert_int_equal(caller.bp, 99);
    }
    /* The distance differs from call to call. What was learned is tried with the register's value. */
    stack[112] = 0;
    stack[101 + 12] = address(OTHER);
    stack[102] = 98;
    assert_true(step_from_aligned(8, 101, true, &caller));
    expect_caller(&caller, OTHER, 114);
    assert_int_equal(caller.bp, 98);
}

TEST(a_register_that_holds_no_old_sp)
{
    struct frame caller;
    stack[100 + 12] = address(RA);
    assert_false(step_from_aligned(0, 100, false, &caller)); /* the registers are not known */
    memset(&cache, 0, sizeof cache);
    assert_false(step_from_aligned(1, 100, true, &caller)); /* not aligned */
    memset(&cache, 0, sizeof cache);
    assert_false(step_from_aligned(120, 100, true, &caller)); /* below sp */
    memset(&cache, 0, sizeof cache);
    stack[100 + 12] = address(RA + 1); /* no call before it */
    assert_false(step_from_aligned(0, 100, true, &caller));
}

TEST(several_registers_may_hold_the_old_sp)
{
    struct frame caller;
    stack[100 + 12] = address(RA);
    leaf.uc_mcontext.gregs[REG_R12] = (greg_t)address(&stack[150]);
    assert_true(step_from_aligned(0, 100, true, &caller)); /* no return address at r12 */
    expect_caller(&caller, RA, 113);
    memset(&cache, 0, sizeof cache);
    stack[150] = address(OTHER);
    assert_true(step_from_aligned(0, 100, true, &caller));
    expect_caller(&caller, OTHER, 151);
    memset(&cache, 0, sizeof cache);
    stack[50] = address(OTHER);
    leaf.uc_mcontext.gregs[REG_R12] = (greg_t)address(&stack[50]);
    assert_true(step_from_aligned(60, 100, true, &caller)); /* r12 is below sp */
    expect_caller(&caller, RA, 113);
}

/* The step from near_code. */
static bool step_from_near(unsigned offset, unsigned old_word, bool interrupted, struct frame *caller)
{
    struct memory memory = by_kernel();
    struct frame frame = leaf_at(near_code, 0);
    struct bare_frame bare = {&frame, &leaf, interrupted, false};
    frame.pc += offset;
    leaf.uc_mcontext.gregs[REG_R10] = (greg_t)address(&stack[old_word]) + 8;
    return fallback_step(&memory, &cache, &bare, caller) == STEP_OK;
}

/* In any register, also of a frame that has called another one. */
TEST(the_walk_comes_to_the_register)
{
    struct frame caller;
    stack[60] = 99; /* rbp */
    stack[61] = address(RA);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(step_from_near(20 * i, 60, i != 1, &caller));
        expect_caller(&caller, RA, 62);
        assert_int_equal(caller.bp, 99);
    }
    stack[71] = address(OTHER); /* another time, another distance */
    assert_true(step_from_near(40, 70, true, &caller));
    expect_caller(&caller, OTHER, 72);
}

/* Code that is called by code like that, and leaves its registers alone. */
void helper_code(void), after_helper(void);
__asm__(".text\n"
        "helper_code: nop\n ret\n"
        "call helper_code\n"
        "after_helper: lea -8(%r10), %rsp\n"
        "ret\n"
        ".skip 16, 0xcc\n");

/* A whole path: the leaf's registers are those of its caller. */
TEST(a_helper_keeps_the_register)
{
    static struct frame path[UNWIND_FRAMES];
    static struct unwinder unwinder = {.cache = &cache, .path = path};
    leaf.uc_mcontext.gregs[REG_RIP] = (greg_t)address((void *)(uintptr_t)helper_code);
    leaf.uc_mcontext.gregs[REG_RSP] = (greg_t)address(&stack[3]);
    leaf.uc_mcontext.gregs[REG_R10] = (greg_t)address(&stack[60]) + 8;
    stack[3] = address((void *)(uintptr_t)after_helper);
    stack[40] = address(OTHER); /* left by an earlier call */
    stack[60] = address(RA);
    unwind(&unwinder, &leaf);
    assert_int_equal(unwinder.depth, 3);
    assert_int_equal(path[1].pc, address((void *)(uintptr_t)after_helper) - 1);
    expect_caller(&path[0], RA, 61);
}

TEST(sp_is_copied_and_taken_back)
{
    struct memory memory = by_kernel();
    struct frame frame = leaf_at(copied_code, 1), caller;
    struct bare_frame bare = {&frame, &leaf, true, false};
    stack[1] = address(OTHER); /* left by an earlier call */
    stack[2] = address(RA);
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_OK);
    expect_caller(&caller, RA, 3);
    assert_int_equal(caller.bp, frame.bp);
}

/* As argv and the environment do in the dynamic linker, which calls code without unwind information. */
TEST(registers_may_hold_other_addresses_on_the_stack)
{
    static const int registers[] = {REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};
    struct memory memory = by_kernel();
    struct frame frame = leaf_at(end_of_aligned_code, 0), caller;
    struct bare_frame bare = {&frame, &leaf, true, false};
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++)
        leaf.uc_mcontext.gregs[registers[i]] = (greg_t)address(&stack[20 + i]);
    stack[0] = address(RA);
    stack[20] = address(OTHER);
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_OK);
    expect_caller(&caller, RA, 1); /* as the code says */

    memory = by_kernel();
    frame = leaf_at(lonely_code, 0);
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_OK);
    expect_caller(&caller, RA, 1); /* a guess, after all code in reach was searched */
    assert_in_range(memory.budget, MEMORY_BUDGET / 2, MEMORY_BUDGET - 1024);
}

EACH_TEST(clear_all, NULL);
ALL_TESTS(map_code, NULL);
