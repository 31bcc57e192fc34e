/* A sample at the end of a system call, for tests of hpcrun/restart, whose files are compiled here. The
 * kernel and the number of the call are made up. A program includes this file once. */
#ifndef TESTS_UNIT_HPCRUN_SAMPLED_CALL_H
#define TESTS_UNIT_HPCRUN_SAMPLED_CALL_H

#define HPCRUN_BASE_SYSTEM_CALL_H

static long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/restart/ended-calls.c"
#include "hpcrun/restart/resumed-calls.c"

#include <poll.h>
#include <sys/ioctl.h>

#define SAMPLES SIGRTMIN /* the sampling signal */
#define MS      1000000u
#define SECOND  1000000000u

struct process process;
static struct thread thread;
__thread struct thread *thread_self = &thread;

static struct {
    long number; /* of the call */
    uint64_t now;
    uint64_t pending;
    void *handler;    /* of all signals, in the kernel */
    bool read_only;   /* the program's memory */
    uint64_t timeout; /* of sockets, ns */
    int domain;
} sim;

static long get_option(long option, void *value)
{
    if (option == SO_DOMAIN)
        *(int *)value = sim.domain;
    else
        *(struct timeval *)value =
            (struct timeval){.tv_sec = (time_t)(sim.timeout / SECOND),
                             .tv_usec = (suseconds_t)(sim.timeout % SECOND / 1000)};
    return 0;
}

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_clock_gettime: *(struct timespec *)b = sys_timespec(sim.now); return 0;
    case SYS_rt_sigpending: *(uint64_t *)a = sim.pending; return 0;
    case SYS_rt_sigaction: ((struct sys_sigaction *)c)->handler = sim.handler; return 0;
    case SYS_getsockopt: return sim.domain ? get_option(c, (void *)d) : -ENOTSOCK;
    case SYS_futex: return sim.read_only ? -EFAULT : 0;
    default: return -ENOSYS;
    }
}

long call_number(const ucontext_t *context, struct memory *memory, struct rule_cache *rules)
{
    return sim.number;
}

void unwind_prepare(struct unwinder *u, const ucontext_t *its)
{
    memory_begin_sample(&u->memory, NULL);
}

static uint64_t cancelable; /* code address */

bool is_cancelable(uint64_t pc)
{
    return pc == cancelable;
}

/* ---- the program ---- */

static uint8_t code[] = {0x0f, 0x05, 0x90}; /* syscall; nop */
static uint64_t stack[64];
static ucontext_t context;
static greg_t *const reg = context.uc_mcontext.gregs;

#define AFTER    ((greg_t)(uintptr_t)(code + 2))
#define STACK_AT ((greg_t)(uintptr_t)(stack + 40))

static inline int begin(void **state)
{
    memset(&sim, 0, sizeof sim);
    memset(thread.calls, 0, sizeof thread.calls);
    memset(&context, 0, sizeof context);
    memset(&process, 0, sizeof process);
    sim.now = 1000 * (uint64_t)SECOND;
    process.signal = SAMPLES;
    thread.unwinder.memory = (struct memory){.own_low = (uint64_t)(uintptr_t)stack,
                                             .own_high = (uint64_t)(uintptr_t)(stack + 64)};
    code[2] = 0x90;
    call_ends((struct call_start){.at = 0});
    note_syscall(&(struct noted_syscall){.sp = 0});
    atomic_store(&restart_known_handlers, 0);
    leaves_rcx = false;
    return 0;
}

/* A sample at the exit of a call with these arguments. */
static bool may_be_canceled;

static inline void sample_at_exit(long number, long result, const long argument[6])
{
    sim.number = number;
    reg[REG_RDI] = argument[0];
    reg[REG_RSI] = argument[1];
    reg[REG_RDX] = argument[2];
    reg[REG_R10] = argument[3];
    reg[REG_R8] = argument[4];
    reg[REG_R9] = argument[5];
    reg[REG_R12] = 1212;
    reg[REG_RSP] = STACK_AT;
    reg[REG_RIP] = reg[REG_RCX] = AFTER;
    reg[REG_R11] = reg[REG_EFL] = 0x246;
    reg[REG_RAX] = result;
    may_be_canceled = ended_call_goes_on(&thread, &context);
}

#define SAMPLE(number, ...) sample_at_exit(number, -EINTR, (const long[6]){__VA_ARGS__})

/* The call was made again at `at`, and another sample has ended it. */
static inline void sample_again(long result)
{
    assert_true(reg[REG_RIP] == address(resumed_syscall) || reg[REG_RIP] == AFTER - 2);
    reg[REG_RIP] += 2;
    reg[REG_RAX] = result;
    ended_call_goes_on(&thread, &context);
}

static inline void assert_at_its_place(long number)
{
    assert_int_equal(reg[REG_RIP], AFTER - 2);
    assert_int_equal(reg[REG_RCX], AFTER);
    assert_int_equal(reg[REG_RAX], number);
    assert_int_equal(reg[REG_R12], 1212);
}

static inline struct resumed_call *assert_elsewhere(long number)
{
    struct resumed_call *resumed = (struct resumed_call *)reg[REG_R12];
    assert_int_equal(reg[REG_RIP], address(resumed_syscall));
    assert_int_equal(reg[REG_RCX], address(resumed_after));
    assert_int_equal(reg[REG_RAX], number);
    assert_true(is_call(resumed));
    assert_int_equal(resumed->pc, AFTER);
    assert_int_equal(resumed->sp, STACK_AT);
    assert_int_equal(resumed->r12, 1212);
    return resumed;
}

static inline void assert_ended(long result)
{
    assert_int_equal(reg[REG_RIP], AFTER);
    assert_int_equal(reg[REG_RAX], result);
}

/* A sample ends this call, which is made again at its place, or not at all. */
#define PUT_BACK(number, ...)        \
    do {                             \
        SAMPLE(number, __VA_ARGS__); \
        assert_at_its_place(number); \
    } while (0)
#define ENDED(number, ...)           \
    do {                             \
        SAMPLE(number, __VA_ARGS__); \
        assert_ended(-EINTR);        \
    } while (0)

static inline uint64_t time_at(greg_t at)
{
    return to_ns((const struct timespec *)at);
}

#endif
