/* Guesses about frames without unwind information, on a made-up stack; call sites. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/unwind/call-site.h"
#include "hpcrun/unwind/irregular-step.h"

#include <string.h>
#include <sys/mman.h>

#define CALL 0xe8
#define PAST 16 /* offset behind a call in `code` */

/* Code in no module, with a call of the next instruction: opcode, and a distance of 0. */
static uint8_t *code;

static struct rule_cache cache;

static struct memory by_kernel(void)
{
    return (struct memory){.guard = MEMORY_GUARD_KERNEL};
}

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static void put_call(void *before)
{
    ((uint8_t *)before)[-5] = CALL;
}

static void the_word_behind_a_call_is_the_caller(void **state)
{
    (void)state;
    uint64_t stack[80] = {[2] = address(code + PAST)};
    struct frame frame = {.pc = 0x5000, .sp = address(stack)}, caller;
    struct memory memory = by_kernel();
    put_call(code + PAST);
    assert_true(fallback_step(&memory, &cache, &frame, true, &caller));
    assert_int_equal(caller.pc, address(code + PAST) - 1);
    assert_int_equal(caller.sp, address(&stack[3]));
}

static void nothing_is_called_from_a_stack(void **state)
{
    (void)state;
    uint64_t stack[80] = {0};
    struct frame frame = {.pc = 0x5000, .sp = address(stack)}, caller;
    struct memory memory = by_kernel();
    put_call(&stack[40]);
    stack[0] = address(&stack[40]); /* a pointer to data with bytes like a call before it */
    stack[1] = address(code + PAST);
    put_call(code + PAST);
    assert_true(fallback_step(&memory, &cache, &frame, true, &caller));
    assert_int_equal(caller.pc, address(code + PAST) - 1);
}

static void code_may_begin_with_a_call(void **state)
{
    (void)state;
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

static void no_word_fits(void **state)
{
    (void)state;
    uint64_t stack[80] = {0};
    struct frame frame = {.pc = 0x5000, .sp = address(stack)}, caller;
    struct memory memory = by_kernel();
    assert_false(fallback_step(&memory, &cache, &frame, true, &caller));
}

static void put_distance(uint8_t *end, const void *to)
{
    int32_t distance = (int32_t)((const uint8_t *)to - end);
    memcpy(end - sizeof distance, &distance, sizeof distance);
}

static void a_call_leads_there_by_the_plt_and_by_a_word_too(void **state)
{
    (void)state;
    static const uint8_t endbr64_jump[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
    struct memory memory = by_kernel();
    uint8_t *function = code + 1000, *word = code + 2000, *plt = code + 3000, *ra = code + 500;
    uint64_t there = address(function);
    memcpy(word, &there, sizeof there);
    memcpy(plt, endbr64_jump, sizeof endbr64_jump);
    put_distance(plt + 10, word);
    put_call(ra);
    put_distance(ra, function);
    assert_true(call_site_calls(&memory, address(ra), there));
    assert_false(call_site_calls(&memory, address(ra), there + 1));
    put_distance(ra, plt);
    assert_true(call_site_calls(&memory, address(ra), there));
    assert_false(call_site_calls(&memory, address(ra), there + 1));
    ra[-6] = 0xff; /* call *word(%rip) */
    ra[-5] = 0x15;
    put_distance(ra, word);
    assert_true(call_site_calls(&memory, address(ra), there));
    assert_false(call_site_calls(&memory, address(ra), there + 1));
    put_distance(ra, code + 4096 + 8192); /* no such word */
    assert_false(call_site_calls(&memory, address(ra), there));
}

static int map_code(void **state)
{
    (void)state;
    code = sys_pages(4096);
    return code ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_behind_a_call_is_the_caller),
        cmocka_unit_test(nothing_is_called_from_a_stack),
        cmocka_unit_test(code_may_begin_with_a_call),
        cmocka_unit_test(no_word_fits),
        cmocka_unit_test(a_call_leads_there_by_the_plt_and_by_a_word_too),
    };
    return cmocka_run_group_tests(tests, map_code, NULL);
}
