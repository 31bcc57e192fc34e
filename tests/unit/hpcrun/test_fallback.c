/* Callers of code without unwind information, on made-up stacks and code; call sites; the budget. */
#include "tests/unit/hpcrun/made_stack.h"

#include "hpcrun/unwind/call-site.h"

#include <sys/mman.h>

#define NOP 0x90

/* Code in a module, without unwind information, that says nothing about its frame. */
void bare_code(void);
__asm__(".text\n"
        "bare_code: jmp *(%rax, %rbx, 8)\n"
        ".skip 16, 0xcc\n");

/* ---- guesses, in modules ---- */

TEST(the_word_behind_a_call_is_the_caller)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)bare_code)), caller;
    stack[2] = address(RA);
    expect_step(&frame, true, &caller, RA, 3);
}

TEST(nothing_is_called_from_a_stack)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)bare_code)), caller;
    put_call(&stack[40]);
    stack[0] = address(&stack[40]); /* a pointer to data with bytes like a call before it */
    stack[1] = address(RA);
    expect_step(&frame, true, &caller, RA, 2);
}

TEST(no_word_fits)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)bare_code)), caller;
    assert_false(steps(&frame, true, &caller));
}

/* The same guess several times is used without looking at other words. */
TEST(guesses_that_agree_are_learned)
{
    struct frame frame = frame_at(address((void *)(uintptr_t)bare_code)), caller;
    stack[2] = address(RA);
    for (unsigned i = 0; i + 1 < LEARNED_SURE; i++)
        assert_true(steps(&frame, true, &caller));
    stack[0] = address(OTHER);
    expect_step(&frame, true, &caller, OTHER, 1); /* one was missing */
    stack[0] = 0;
    for (unsigned i = 0; i < LEARNED_SURE; i++)
        assert_true(steps(&frame, true, &caller));
    stack[0] = address(OTHER);
    expect_step(&frame, true, &caller, RA, 3);
    stack[2] = 0; /* no return address there: the rule does not hold */
    expect_step(&frame, true, &caller, OTHER, 1);
}

TEST(code_made_at_run_time_is_not_guessed)
{
    struct frame frame = frame_at(address(code)), caller;
    stack[0] = address(RA);
    PUT(0, 0xff, 0x24, 0xd8); /* jmp *(%rax, %rbx, 8) */
    assert_false(steps(&frame, true, &caller));
}

/* ---- rules from the code ---- */

TEST(the_code_tells_where_the_return_address_is)
{
    struct frame frame = frame_at(address(code)), caller;
    put(0, epilogue, sizeof epilogue);
    stack[1] = address(OTHER); /* left by an earlier call */
    stack[3] = 77;
    stack[4] = address(RA);
    expect_step(&frame, true, &caller, RA, 5);
    assert_int_equal(caller.bp, 77);
    assert_int_equal(frame.link, -16);
}

TEST(a_frame_that_has_called_goes_on_behind_its_call)
{
    struct frame frame = frame_at(address(code + 100) - 1), caller;
    PUT(99, 0xc3); /* a return before */
    put(100, epilogue, sizeof epilogue);
    stack[0] = address(OTHER);
    stack[4] = address(RA);
    expect_step(&frame, false, &caller, RA, 5);
}

TEST(loops_and_calls_that_never_return)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x48, 0xff, 0xcf,           /* dec %rdi */
        0x75, 0xfb,                    /* jne to the begin */
        0x74, 0x07,                    /* je to the epilogue */
        0xe8, 0, 0, 0, 0, 0xcc, 0xcc); /* call; int3 */
    put(14, epilogue, sizeof epilogue);
    stack[4] = address(RA);
    expect_step(&frame, true, &caller, RA, 5);
    memset(&cache, 0, sizeof cache);
    PUT(2, 0xcf, 0xeb, 0xfb); /* dec; jmp to the begin */
    assert_false(steps(&frame, true, &caller));
}

TEST(before_and_in_the_prologue)
{
    struct frame caller;
    PUT(0, 0x55,             /* push %rbp */
        0x48, 0x89, 0xe5,    /* mov %rsp, %rbp */
        0x48, 0x83, 0xec, 8, /* sub $8, %rsp */
        0x48, 0x89, 0xec,    /* mov %rbp, %rsp */
        0x5d, 0xc3);         /* pop %rbp; ret */
    static const struct {
        unsigned at, ra, bp;
    } shapes[] = {
        {0, 0, WORDS},
        {1, 1, 0},
        {12, 0, WORDS},
        {11, 1, 0},
    };
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct frame frame = frame_at(address(code + shapes[i].at));
        memset(stack, 0, sizeof stack);
        stack[shapes[i].bp % WORDS] = 99;
        stack[shapes[i].ra] = address(RA);
        expect_step(&frame, true, &caller, RA, shapes[i].ra + 1);
        assert_int_equal(caller.bp, shapes[i].bp == WORDS ? frame.bp : 99);
    }
    struct frame inside = frame_at(address(code + 4)); /* with a frame pointer */
    inside.bp = address(&stack[10]);
    stack[10] = 99;
    stack[11] = address(RA);
    expect_step(&inside, true, &caller, RA, 12);
    assert_int_equal(caller.bp, 99);
}

/* V8: pop %rcx; add %rbx, %rsp; push %rcx; ret. HotSpot: pop %rsi; mov %r13, %rsp; jmp *%rsi. */
TEST(return_addresses_that_are_moved)
{
    struct frame frame = frame_at(address(code)), caller;
    PUT(0, 0x59, 0x48, 0x01, 0xdc, 0x51, 0xc3);
    stack[0] = address(RA);
    expect_step(&frame, true, &caller, RA, 1);
    frame.pc = address(code + 200);
    PUT(200, 0x5e, 0x4c, 0x89, 0xec, 0xff, 0xe6);
    expect_step(&frame, true, &caller, RA, 1);
}

TEST(the_return_address_must_be_behind_a_call)
{
    struct frame frame = frame_at(address(code)), caller;
    put(0, epilogue, sizeof epilogue);
    stack[4] = address(RA) + 1;
    assert_false(steps(&frame, true, &caller));
}

TEST(hotspot_s_interpreter_is_not_called)
{
    struct frame frame = frame_at(address(code)), caller;
    put(0, epilogue, sizeof epilogue);
    PUT(2000, 0x48, 0x8b, 0x65, 0xf0); /* mov -16(%rbp), %rsp */
    stack[4] = address(code + 2000);
    assert_true(steps(&frame, true, &caller));
    struct frame interpreted = caller;
    interpreted.bp = address(&stack[20]);
    stack[21] = address(RA);
    stack[19] = address(&stack[30]); /* its caller's stack pointer */
    expect_step(&interpreted, false, &caller, RA, 30);
}

TEST(the_kernel_calls_handlers)
{
    struct frame frame = frame_at(address(code)), caller;
    put(0, epilogue, sizeof epilogue);
    PUT(2000, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05); /* mov $15, %rax; syscall */
    stack[4] = address(code + 2000);
    expect_step(&frame, true, &caller, code + 2000, 5);
    code[2003] = 14; /* another system call */
    assert_false(steps(&frame, true, &caller));
}

/* ---- learned rules ---- */

TEST(rules_of_replaced_code_do_not_hold)
{
    struct frame frame = frame_at(address(code)), caller;
    put(0, epilogue, sizeof epilogue);
    stack[4] = address(RA);
    assert_true(steps(&frame, true, &caller));
    PUT(0, 0x48, 0x83, 0xc4, 8, 0x5d, 0xc3); /* add $8, %rsp; ... */
    stack[2] = address(OTHER);
    expect_step(&frame, true, &caller, OTHER, 3);
}

/* The second sample at a pc does not read the code again, but for the bytes where it goes on. */
TEST(a_learned_rule_is_not_searched_again)
{
    struct frame frame = frame_at(address(code)), caller;
    memset(code, NOP, 64);
    put(64, epilogue, sizeof epilogue);
    stack[4] = address(RA);
    assert_true(steps(&frame, true, &caller));
    memset(code + 8, 0xcc, 100);
    expect_step(&frame, true, &caller, RA, 5);
}

TEST(code_around_has_frame_pointers)
{
    struct frame caller;
    for (unsigned i = 0; i < 3; i++) {
        struct frame known = frame_at(address(code + 100 * i + 100) - 1);
        known.bp = address(&stack[3]);
        put(100 * i + 100, epilogue, sizeof epilogue);
        stack[4] = address(RA);
        assert_int_equal(learned_has_frame_pointers(&cache.learned, address(code)), false);
        assert_true(steps(&known, false, &caller));
    }
    struct frame endless = frame_at(address(code + 600) - 1);
    endless.bp = address(&stack[3]);
    PUT(600, 0xeb, 0xfe); /* jmp to itself */
    expect_step(&endless, false, &caller, RA, 5);
    struct frame starts = frame_at(address(code + 700)); /* rbp is still the caller's */
    starts.bp = address(&stack[3]);
    PUT(700, 0x55, 0xeb, 0xfe); /* push %rbp; jmp to itself */
    assert_false(steps(&starts, true, &caller));
    struct frame ends = starts; /* rbp is the caller's again; r10 has the return address */
    ends.pc = address(code + 800);
    PUT(800, 0x4a, 0x8d, 0x24, 0xcc, 0x41, 0x52,
        0xc3); /* lea (%rsp, %r9, 8), %rsp; push %r10; ret */
    assert_false(steps(&ends, true, &caller));
    for (unsigned i = 0; i < 3; i++) {
        struct frame other = frame_at(address(code + 100 * i + 1000) - 1);
        put(100 * i + 1000, epilogue, sizeof epilogue);
        assert_true(steps(&other, false, &caller));
    }
    assert_false(learned_has_frame_pointers(&cache.learned, address(code)));
}

/* ---- the budget ---- */

TEST(a_search_ends_when_the_budget_is_spent)
{
    struct frame frame = frame_at(address(code)), caller;
    struct bare_frame bare = {&frame, NULL, true, false};
    struct memory memory = by_kernel();
    memory.budget = 100;
    memset(code, NOP, 1500);
    put(1500, epilogue, sizeof epilogue);
    stack[4] = address(RA);
    assert_int_equal(fallback_step(&memory, &cache, &bare, &caller), STEP_FAILED);
    assert_true(memory_is_exhausted(&memory));
    expect_step(&frame, true, &caller, RA, 5); /* the next sample has a new budget */
}

TEST(the_kernel_reads_pages)
{
    uint64_t *far = sys_pages(64 * 4096), word;
    struct memory memory = by_kernel();
    memory.budget = 3 * MEMORY_PAGE_WORDS;
    far[511] = 7;
    far[512] = 8;
    for (unsigned i = 0; i < 512; i++)
        assert_true(memory_load(&memory, address(&far[i]), &word));
    assert_int_equal(word, 7);
    assert_int_equal(memory.budget, 2 * MEMORY_PAGE_WORDS);
    far[511] = 9; /* one state of memory for all of the sample */
    assert_true(memory_load(&memory, address(&far[511]), &word));
    assert_int_equal(word, 7);
    assert_true(memory_load(&memory, address(&far[511]) + 4, &word)); /* from both pages */
    assert_int_equal(word, (uint64_t)8 << 32);
    assert_true(memory_load(&memory, address(&far[1024]), &word));
    assert_false(memory_load(&memory, address(&far[1536]), &word));
    assert_true(memory_is_exhausted(&memory));
    memory_begin_sample(&memory, &cache.pages);
    memory.guard = MEMORY_GUARD_KERNEL;
    assert_true(memory_load(&memory, address(&far[511]), &word));
    assert_int_equal(word, 9);
    sys_pages_free(far, 64 * 4096);
}

TEST(each_failing_page_costs_once)
{
    uint8_t *pages = sys_pages(2 * 4096);
    struct memory memory = by_kernel();
    uint64_t word;
    assert_int_equal(mprotect(pages, 4096, PROT_NONE), 0);
    for (unsigned i = 0; i < 512; i++)
        assert_false(memory_load(&memory, address(pages) + 8 * i, &word));
    assert_int_equal(memory.budget, MEMORY_BUDGET - MEMORY_PAGE_WORDS);
    sys_pages_free(pages, 2 * 4096);
}

/* ---- whole paths ---- */

static struct frame path[UNWIND_FRAMES];
static struct unwinder unwinder = {.cache = &cache, .path = path};

static enum unwind_end sample(const uint8_t *pc)
{
    ucontext_t context = {0};
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)address(pc);
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)address(stack);
    return unwind(&unwinder, &context);
}

TEST(a_path_ends_where_a_goroutine_begins)
{
    put(0, epilogue, sizeof epilogue);
    PUT(2000, NOP, CALL, 1, 0, 0, 0, NOP);
    stack[4] = address(code + 2001);
    assert_int_equal(sample(code), UNWIND_COMPLETE);
    assert_int_equal(unwinder.depth, 1);
    PUT(2006, 0xcc);
    unwind_forget(&unwinder);
    assert_int_equal(sample(code), UNWIND_NO_FDE);
}

/* Functions whose unwind information says that the return address is one word above. Only the code of the
 * second tells that it is not. */
void silent_function(void), wrong_function(void);
__asm__(".text\n"
        "silent_function: .cfi_startproc\n .cfi_def_cfa_offset 16\n"
        "nop\n jmp *(%rax, %rbx, 8)\n .cfi_endproc\n"
        "wrong_function: .cfi_startproc\n .cfi_def_cfa_offset 16\n nop\n ret\n .cfi_endproc\n"
        ".skip 16, 0xcc\n");

static enum unwind_end sample_function(void (*function)(void), bool on_own_stack)
{
    unwinder.stack_low = on_own_stack ? address(stack) : 0;
    unwinder.stack_high = on_own_stack ? address(stack + WORDS) : 0;
    unwind_forget(&unwinder);
    enum unwind_end end = sample((const uint8_t *)(uintptr_t)function);
    unwinder.stack_low = unwinder.stack_high = 0;
    return end;
}

TEST(words_that_end_a_path_on_other_stacks)
{
    const uint64_t words[] = {0, 77, address(stack), address(code + 100)};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        stack[1] = words[i];
        assert_int_equal(sample_function(silent_function, false), UNWIND_COMPLETE);
        assert_int_equal(unwinder.depth, 1);
        assert_int_equal(sample_function(silent_function, true), UNWIND_NOT_A_RETURN_ADDRESS);
        assert_int_equal(unwinder.depth, 1);
    }
}

/* Where a function begins, no call has pushed the address, on any stack. */
/* Only lazy PLTs have unwind information that tells their entries apart. */
TEST(a_plt_entry_begins_there)
{
    enum { PUSH = 0x68 };
    uint64_t entry;
    __asm__("lea strpbrk@PLT(%%rip), %0" : "=r"(entry));
    if (((const uint8_t *)(uintptr_t)entry)[6] != PUSH)
        skip();
    assert_true(rule_cache_get(&cache, entry - 1).begins);
    assert_false(rule_cache_get(&cache, entry).begins);
}

TEST(a_function_s_begin_ends_a_path)
{
    stack[1] = address((void *)(uintptr_t)wrong_function);
    for (unsigned own = 0; own < 2; own++) {
        assert_int_equal(sample_function(silent_function, own), UNWIND_COMPLETE);
        assert_int_equal(unwinder.depth, 1);
    }
}

TEST(code_helps_where_unwind_information_is_wrong)
{
    for (unsigned own = 0; own < 2; own++) {
        stack[0] = address(RA);
        stack[1] = 0;
        sample_function(wrong_function, own);
        assert_int_equal(unwinder.depth, 2);
        assert_int_equal(unwinder.path[0].pc, address(RA) - 1);
    }
}

/* Rules that were learned before the budget was spent help the next sample. */
TEST(long_searches_are_spread_over_samples)
{
    enum { FRAMES = 6, BYTES = 2000 };
    for (unsigned i = 0; i < FRAMES; i++) {
        uint8_t *begin = code + 4096 + i * BYTES;
        memset(begin, NOP, BYTES);
        put_call(begin + 10);
        memcpy(begin + BYTES - 10, epilogue, sizeof epilogue);
        stack[5 * i + 4] = address(begin + BYTES + 10);
    }
    PUT(2000, NOP, CALL, 1, 0, 0, 0, NOP);
    stack[5 * (FRAMES - 1) + 4] = address(code + 2001);
    assert_int_equal(sample(code + 4096 + 10), UNWIND_BUDGET);
    uint32_t depth = unwinder.depth;
    assert_in_range(depth, 2, FRAMES - 1);
    for (; sample(code + 4096 + 10) == UNWIND_BUDGET; depth = unwinder.depth)
        assert_true(unwinder.depth > depth);
    assert_int_equal(unwinder.end, UNWIND_COMPLETE);
    assert_int_equal(unwinder.depth, FRAMES);
}

/* ---- call sites ---- */

TEST(code_may_begin_with_a_call)
{
    uint8_t *pages = sys_pages(2 * 4096), *begin = pages + 4096;
    struct memory memory = by_kernel();
    assert_int_equal(mprotect(pages, 4096, PROT_NONE), 0);
    begin[0] = 0xff; /* call *%rdi */
    begin[1] = 0xd7;
    assert_true(call_site_is_before(&memory, address(begin + 2)));
    assert_false(call_site_is_before(&memory, address(begin + 1)));
    assert_false(call_site_is_before(&memory, address(begin)));
    sys_pages_free(pages, 2 * 4096);
}

static void put_distance(uint8_t *end, const void *to)
{
    int32_t distance = (int32_t)((const uint8_t *)to - end);
    memcpy(end - sizeof distance, &distance, sizeof distance);
}

static bool calls(const uint8_t *ra, uint64_t function)
{
    struct memory memory = by_kernel();
    return call_site_calls(&memory, address(ra), function);
}

TEST(a_call_leads_there_by_the_plt_and_by_a_word_too)
{
    static const uint8_t endbr64_jump[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
    uint8_t *function = code + 1000, *word = code + 2000, *plt = code + 3000, *ra = code + 500;
    uint64_t there = address(function);
    memcpy(word, &there, sizeof there);
    memcpy(plt, endbr64_jump, sizeof endbr64_jump);
    put_distance(plt + 10, word);
    put_call(ra);
    put_distance(ra, function);
    assert_true(calls(ra, there));
    assert_false(calls(ra, there + 1));
    put_distance(ra, plt);
    assert_true(calls(ra, there));
    assert_false(calls(ra, there + 1));
    ra[-6] = 0xff; /* call *word(%rip) */
    ra[-5] = 0x15;
    put_distance(ra, word);
    assert_true(calls(ra, there));
    assert_false(calls(ra, there + 1));
    put_distance(ra, code + CODE_BYTES + 8192); /* no such word */
    assert_false(calls(ra, there));
}

EACH_TEST(clear, NULL);
ALL_TESTS(map_code, NULL);
