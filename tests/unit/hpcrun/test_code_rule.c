/* What code without unwind information tells of its frame, on made-up stacks. */
#include "tests/unit/hpcrun/made_stack.h"

/* ---- ways to a return ---- */

TEST(ways_that_are_easily_missed)
{
    struct frame frame = frame_at(address(code + 40)), caller;
    put(32, epilogue, sizeof epilogue);
    PUT(40, 0x00, 0xc1, 0xeb, 0xf4); /* add %al, %cl; jmp back to the epilogue */
    stack[4] = address(RA);
    expect_step(&frame, true, &caller, RA, 5);
    memset(&cache, 0, sizeof cache);
    PUT(40, 0x00, 0x00); /* no code */
    assert_false(steps(&frame, true, &caller));
}

/* movslq 4(%rdx), %rax; add %rdx, %rax; jmp *%rax, with a table of one entry, which leads to the epilogue */
TEST(a_jump_table_leads_on)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x48, 0x8d, 0x15, 25, 0, 0, 0, /* lea 25(%rip), %rdx */
        0x48, 0x63, 0x42, 0x04, 0x48, 0x01, 0xd0, 0xff, 0xe0);
    PUT(32, 68, 0, 0, 0);
    put(100, epilogue, sizeof epilogue);
    stack[4] = address(RA);
    expect_step(&frame, true, &caller, RA, 5);
}

/* HotSpot: jmp *0x40(%rbx) */
TEST(a_stub_jumps_through_memory)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0xff, 0x63, 0x40);
    assert_false(steps(&frame, true, &caller));
    memset(&cache, 0, sizeof cache);
    stack[0] = address(RA);
    expect_step(&frame, true, &caller, RA, 1);
}

/* add $8, %rsp; mov 16(%rsp), %rsp; pop %rbp; ret */
TEST(the_old_sp_is_in_the_frame)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x48, 0x83, 0xc4, 8, 0x48, 0x8b, 0x64, 0x24, 16, 0x5d, 0xc3);
    stack[3] = address(&stack[10]);
    stack[4] = address(OTHER);
    stack[10] = 99;
    stack[11] = address(RA);
    for (unsigned i = 0; i < 2; i++) {
        expect_step(&frame, true, &caller, RA, 12);
        assert_int_equal(caller.bp, 99);
    }
    stack[3] = 1; /* the word is none */
    assert_false(steps(&frame, true, &caller));
}

/* jmp *(%rax, %rbx, 8), whose targets are not known */
#define GO_ANYWHERE 0xff, 0x24, 0xd8

TEST(a_prologue_tells_where_the_return_address_is)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x90, 0x55, 0x48, 0x89, 0xe5, GO_ANYWHERE); /* nop; push %rbp; mov %rsp, %rbp */
    stack[0] = address(RA);
    expect_step(&frame, true, &caller, RA, 1);
    assert_int_equal(caller.bp, frame.bp);
    /* HotSpot: pop %rax; push $0; push %rax; push %rbp; mov %rsp, %rbp */
    frame.pc = address(code + 100);
    PUT(100, 0x58, 0x6a, 0, 0x50, 0x55, 0x48, 0x89, 0xe5, GO_ANYWHERE);
    expect_step(&frame, true, &caller, RA, 1);
    frame.pc = address(code + 200); /* rbp was changed before */
    PUT(200, 0x31, 0xed, 0x48, 0x89, 0xcd, 0x55, 0x48, 0x89, 0xe5, GO_ANYWHERE);
    assert_false(steps(&frame, true, &caller));
}

/* As in HotSpot's loops that are entered in the middle. */
TEST(code_after_a_prologue_has_a_frame_pointer)
{
    struct frame frame = frame_at(address(code + 1020)), caller;
    PUT(1000, 0x55, 0x48, 0x89, 0xe5,          /* push %rbp; mov %rsp, %rbp */
        0x48, 0x83, 0xec, 48, 0xeb, 9, 0xf4); /* sub $48, %rsp; jmp; hlt */
    PUT(1019, 0x90, 0x90, GO_ANYWHERE);
    frame.bp = address(&stack[6]);
    stack[0] = address(OTHER);
    stack[6] = 99;
    stack[7] = address(RA);
    expect_step(&frame, true, &caller, RA, 8);
    assert_int_equal(caller.bp, 99);
    memset(&cache, 0, sizeof cache);
    PUT(1008, 0xf4); /* no way leads there */
    assert_false(steps(&frame, true, &caller));
}

/* mov %fs:-8, %rax; jmp *(%rax, %rbx, 8): nothing is relative to rbp. */
TEST(thread_variables_are_not_in_the_frame)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, GO_ANYWHERE);
    frame.bp = address(&stack[6]);
    stack[7] = address(RA);
    assert_false(steps(&frame, true, &caller));
    PUT(0, 0x90, 0x48, 0x8b, 0x45, 0xf8, 0x90, 0x90, 0x90, 0x90); /* mov -8(%rbp), %rax */
    memset(&cache, 0, sizeof cache);
    expect_step(&frame, true, &caller, RA, 8);
}

/* ---- what a walk teaches ---- */

/* Code in a module, without unwind information, that uses rbp for data. */
void taught_code(void), taught_body(void), taught_end(void);
__asm__(".text\n"
        "taught_code: push %rbx\n push %rbp\n"
        ".fill 100, 1, 0x90\n"
        "taught_body: mov $5, %ebp\n"
        ".fill 300, 1, 0x90\n"
        "sub $8, %rsp\n"
        ".fill 300, 1, 0x90\n"
        "taught_end: add $8, %rsp\n pop %rbp\n pop %rbx\n ret\n"
        ".skip 16, 0xcc\n");

/* The step from `offset` bytes after a label, with what it cost. */
static int32_t step_of_taught(void (*label)(void), unsigned offset, unsigned sp_word, uint64_t bp)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)label) + offset), caller;
    struct bare_frame bare = {&frame, NULL, true, false};
    struct memory memory = by_kernel();
    frame.sp = address(&stack[sp_word]);
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_OK);
    expect_caller(&caller, RA, 12);
    assert_int_equal(caller.bp, bp);
    return MEMORY_BUDGET - memory.budget;
}

/* The rule of code that a walk came by is known, and where rbp is. A walk ends where it comes to such
 * code. */
TEST(a_walk_teaches_the_rules_of_its_way)
{
    enum { PAGES = 3 * MEMORY_PAGE_WORDS, SHORT = PAGES + 250, LONG = PAGES + 400 };
    stack[9] = 99;
    stack[11] = address(RA);
    assert_true(step_of_taught(taught_body, 100, 9, 99) > LONG);
    assert_int_equal(step_of_taught(taught_body, 200, 9, 99), PAGES);
    assert_int_equal(step_of_taught(taught_body, 400, 8, 99), PAGES);
    assert_int_equal(step_of_taught(taught_end, 0, 8, 99), PAGES);
    assert_in_range(step_of_taught(taught_code, 50, 9, 99), PAGES + 1, SHORT);
    assert_in_range(step_of_taught(taught_code, 0, 11, 0x1234), PAGES + 1, SHORT);
    assert_int_equal(step_of_taught(taught_code, 2, 9, 99), PAGES);
    memset(&cache, 0, sizeof cache);
    assert_true(step_of_taught(taught_code, 0, 11, 0x1234) > LONG);
    assert_int_equal(step_of_taught(taught_code, 50, 9, 99), PAGES);
    assert_int_equal(step_of_taught(taught_body, 200, 9, 99), PAGES);
    assert_int_equal(step_of_taught(taught_body, 400, 8, 99), PAGES);
}

/* ---- code that is carried out ---- */

/* Functions that come back to another stack, as Go's asmcgocall: by a structure that the frame points
 * to; by what they store themselves; by a register that a call has changed; by half of one. */
void by_structure(void), by_store(void), after_call(void), by_half(void);
__asm__(".text\n"
        "by_structure: mov 8(%rsp), %rdi\n mov 16(%rdi), %rsi\n sub 16(%rsp), %rsi\n"
        "mov %rsi, %rsp\n pop %rbp\n ret\n"
        "by_store: mov %rdi, 8(%rsp)\n push $0\n pop %rdi\n cmp %rdi, %rdi\n jne by_structure\n"
        "mov 8(%rsp), %rsi\n lea (%rsi), %rdx\n mov %rdx, %rsp\n ret\n"
        "after_call: mov 8(%rsp), %rdi\n call *%rax\n mov %rdi, %rdx\n mov (%rdx), %rsp\n ret\n"
        "by_half: mov 8(%rsp), %esi\n mov (%rsi), %rsp\n ret\n"
        ".skip 16, 0xcc\n");

static enum step step_of(void (*function)(void), const ucontext_t *registers, struct frame *caller)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)function));
    struct bare_frame bare = {&frame, registers, true, false};
    struct memory memory = by_kernel();
    enum step stepped = fallback_step(&memory, &cache, &bare, caller);
    assert_int_equal(frame.link, LINK_IRREGULAR);
    return stepped;
}

TEST(code_computes_another_stack)
{
    struct frame caller;
    stack[1] = address(&stack[50]);
    stack[2] = 20 * sizeof *stack;
    for (unsigned i = 0; i < 3; i++) {
        unsigned at = 90 + 10 * i; /* the result is not a rule: another time, another stack */
        stack[52] = address(&stack[at + 20]);
        stack[at] = 99 + i;
        stack[at + 1] = address(RA);
        assert_int_equal(step_of(by_structure, NULL, &caller), STEP_OK);
        expect_caller(&caller, RA, at + 2);
        assert_int_equal(caller.bp, 99 + i);
    }
}

TEST(carried_out_code_reads_what_it_has_stored)
{
    ucontext_t registers = {0};
    struct frame caller;
    registers.uc_mcontext.gregs[REG_RDI] = (greg_t)address(&stack[100]);
    stack[1] = address(&stack[120]);
    stack[100] = address(RA);
    stack[120] = address(OTHER);
    assert_int_equal(step_of(by_store, &registers, &caller), STEP_OK);
    expect_caller(&caller, RA, 101);
    memset(&cache, 0, sizeof cache);
    assert_int_equal(step_of(by_store, NULL, &caller), STEP_FAILED); /* rdi is not known */
}

TEST(values_that_carried_out_code_does_not_know)
{
    struct frame caller;
    stack[1] = address(&stack[100]);
    stack[100] = address(&stack[120]);
    stack[120] = address(RA);
    assert_int_equal(step_of(after_call, NULL, &caller), STEP_FAILED);
    assert_int_equal(step_of(by_half, NULL, &caller), STEP_FAILED);
}

/* ---- code that never returns ---- */

void endless_stub(void);
__asm__(".text\n"
        "endless_stub: call *%rbx\n call *%r12\n ud2\n"
        ".skip 16, 0xcc\n");

TEST(a_stub_that_never_returns_may_be_the_first_frame)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)endless_stub) + 1), caller;
    struct bare_frame bare = {&frame, NULL, false, true};
    stack[2] = address(RA);
    for (unsigned i = 0; i < 2; i++) {
        struct memory memory = by_kernel();
        assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_OUTERMOST);
    }
    expect_step(&frame, false, &caller, RA, 3); /* on the thread's own stack */
    frame.pc--; /* interrupted before its call */
    struct bare_frame interrupted = {&frame, NULL, true, true};
    struct memory other = by_kernel();
    assert_int_equal(fallback_step(&other, &cache, &interrupted, &caller), STEP_OK);
    expect_caller(&caller, RA, 3);
    stack[2] = 0;
    struct memory memory = by_kernel(); /* code with a return, but no return address there */
    frame = frame_at(address((void *)(uintptr_t)taught_body));
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_FAILED);
}

EACH_TEST(clear, NULL);
ALL_TESTS(map_code, NULL);
