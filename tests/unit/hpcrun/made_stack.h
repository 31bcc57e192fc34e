/* A made-up stack, and code in no module, for tests of the unwinding of code without unwind information.
 * Each test begins with words of 0 and bytes of int3, but for two calls. */
#ifndef TESTS_UNIT_HPCRUN_MADE_STACK_H
#define TESTS_UNIT_HPCRUN_MADE_STACK_H

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/unwind/irregular-step.h"
#include "hpcrun/unwind/unwind.h"

#define CALL       0xe8
#define WORDS      200
#define CODE_BYTES (1u << 15)

/* Code in no module. Behind a call are RA, another address in OTHER. */
static uint8_t *code;
#define RA    (code + 3000)
#define OTHER (code + 3500)

static struct rule_cache cache;
_Alignas(64) static uint64_t stack[WORDS];

static struct memory by_kernel(void)
{
    struct memory memory = {0};
    memory_begin_sample(&memory, &cache.pages);
    memory.guard = MEMORY_GUARD_KERNEL;
    return memory;
}

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static void put_call(void *before)
{
    ((uint8_t *)before)[-5] = CALL;
}

static struct frame frame_at(uint64_t pc)
{
    return (struct frame){.pc = pc, .sp = address(stack), .bp = 0x1234};
}

static void expect_caller(const struct frame *caller, const uint8_t *ra, unsigned sp_word)
{
    assert_int_equal(caller->pc, address(ra) - 1);
    assert_int_equal(caller->sp, address(&stack[sp_word]));
}

static inline void put(unsigned at, const void *bytes, size_t size)
{
    memcpy(code + at, bytes, size);
}

#define PUT(at, ...) put(at, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* add $24, %rsp; pop %rbp; ret */
static const uint8_t epilogue[] __attribute__((unused)) = {0x48, 0x83, 0xc4, 24, 0x5d, 0xc3};

/* The step of a new sample. */
static inline bool steps(struct frame *frame, bool interrupted, struct frame *caller)
{
    struct memory memory = by_kernel();
    struct bare_frame bare = {frame, NULL, interrupted, false};
    return fallback_step(&memory, &cache, &bare, caller) == STEP_OK;
}

static inline void expect_step(struct frame *frame, bool interrupted, struct frame *caller, const uint8_t *ra,
                               unsigned sp_word)
{
    assert_true(steps(frame, interrupted, caller));
    expect_caller(caller, ra, sp_word);
}

STEP(clear)
{
    memset(&cache, 0, sizeof cache);
    memset(stack, 0, sizeof stack);
    memset(code, 0xcc, CODE_BYTES);
    put_call(RA);
    put_call(OTHER);
}

static int map_code(void **state)
{
    code = sys_pages(CODE_BYTES);
    return code ? 0 : -1;
}

#endif
