/* Reads of memory that may not be readable: with the fault fix-up if our handler gets the fault,
 * otherwise through the kernel. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/unwind/memory.h"

#include <sys/mman.h>
#include <unistd.h>

static struct guard guard;
static int faults;
static uint8_t *readable, *unreadable; /* two adjacent pages */
static size_t page;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    faults++;
    if (!guard_fix_up(&guard, context))
        _exit(99);
}

/* cmocka sets its own fault handlers at the beginning of each test. */
static void take_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL) | sigaction(SIGBUS, &action, NULL), 0);
    faults = 0;
}

static int set_up(void **state)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    readable = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (readable == MAP_FAILED)
        return -1;
    unreadable = readable + page;
    for (size_t i = 0; i < page; i++)
        readable[i] = (uint8_t)(i % 251 + 1);
    return mprotect(unreadable, page, PROT_NONE);
}

static uint64_t at(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

/* Both ways give the same result for every range; only one of them faults. */
TEST(copies_are_whole_or_refused)
{
    take_faults();
    for (int armed = 0; armed <= 1; armed++) {
        uint8_t copy[64];
        faults = 0;
        assert_true(guard_copy(copy, at(readable + 100), sizeof copy, armed));
        assert_memory_equal(copy, readable + 100, sizeof copy);
        assert_true(guard_copy(copy, at(unreadable - sizeof copy), sizeof copy, armed));
        assert_int_equal(faults, 0);
        assert_false(guard_copy(copy, at(unreadable), sizeof copy, armed));
        assert_false(guard_copy(copy, at(unreadable - 1), sizeof copy, armed));
        assert_false(guard_copy(copy, 0, 1, armed));
        assert_false(guard_copy(copy, 0xdead000000000000, 1, armed)); /* not canonical */
        assert_int_equal(faults, armed ? 4 : 0);
    }
}

TEST(loads_are_whole_or_refused)
{
    take_faults();
    uint64_t value = 0, expected;
    faults = 0;
    memcpy(&expected, unreadable - 8, 8);
    assert_true(guard_load(at(unreadable - 8), &value));
    assert_int_equal(value, expected);
    assert_int_equal(faults, 0);
    value = 1234;
    assert_false(guard_load(at(unreadable - 7), &value));
    assert_int_equal(value, 1234);
    assert_int_equal(faults, 1);
}

/* Memory stores before the fault stay; registers are restored to the beginning of the region. */
TEST(a_region_is_left_at_a_fault)
{
    take_faults();
    static volatile int stages;
    stages = 0;
    if (guard_enter(&guard) == 0) {
        stages = 1;
        stages += *(volatile uint8_t *)unreadable;
        stages = 100;
        guard_leave(&guard);
    } else {
        stages += 10;
    }
    assert_int_equal(stages, 11);
    assert_false(guard.active);
}

static void leave_region(volatile int *stages)
{
    *stages = 1;
    guard_exit(&guard);
}

TEST(a_region_is_left_on_demand)
{
    static volatile int stages;
    stages = 0;
    if (guard_enter(&guard) == 0) {
        leave_region(&stages);
        stages = 100;
    } else {
        stages += 10;
    }
    assert_int_equal(stages, 11);
    assert_false(guard.active);
}

TEST(a_region_without_faults_is_left_as_any_code)
{
    volatile int sum = 0;
    if (guard_enter(&guard) == 0) {
        assert_true(guard.active);
        sum += readable[0];
        guard_leave(&guard);
    } else {
        fail();
    }
    assert_int_equal(sum, 1);
    assert_false(guard.active);
}

/* A fault with its signal blocked, or with another handler, kills the program. */
TEST(a_guard_is_armed_only_where_faults_come_to_us)
{
    uint64_t segv = sys_mask_bit(SIGSEGV), bus = sys_mask_bit(SIGBUS);
    struct sys_sigaction now;
    assert_int_equal(sys_sigaction(SIGSEGV, NULL, &now), 0);
    assert_true(guard_is_armed(0, now.handler));
    assert_true(guard_is_armed(~(segv | bus), now.handler));
    assert_false(guard_is_armed(segv, now.handler));
    assert_false(guard_is_armed(bus, now.handler));
    assert_false(guard_is_armed(segv | bus, now.handler));
    assert_false(guard_is_armed(0, (char *)now.handler + 1));
    assert_false(guard_is_armed(0, NULL));
    assert_true(guard_is_unblocked(0));
    assert_false(guard_is_unblocked(segv));
    assert_false(guard_is_unblocked(bus));
}

/* The kernel is asked for the handler at one sample of 64, and not if only the thread's own stack is read. */
TEST(samples_rarely_ask_the_kernel)
{
    take_faults();
    struct sys_sigaction now;
    assert_int_equal(sys_sigaction(SIGSEGV, NULL, &now), 0);
    struct memory memory = {.own_low = at(readable), .own_high = at(readable) + 64};
    uint64_t value;
    for (unsigned sample = 0; sample <= 128; sample++) {
        memory_begin_sample(&memory, NULL);
        memory.fault_handler = sample % 64 == 0 ? now.handler : NULL;
        assert_true(memory_load(&memory, at(readable), &value));
        assert_int_equal(memory.guard, MEMORY_GUARD_UNKNOWN);
        assert_true(memory_load(&memory, at(readable + 64), &value));
        assert_int_equal(memory.guard, MEMORY_GUARD_ARMED);
    }
    for (unsigned sample = 129; sample <= 192; sample++) {
        memory_begin_sample(&memory, NULL);
        assert_true(memory_load(&memory, at(readable + 64), &value));
        assert_int_equal(memory.guard, sample == 192 ? MEMORY_GUARD_KERNEL : MEMORY_GUARD_ARMED);
        memory.fault_handler = NULL;
    }
}

ALL_TESTS(set_up, NULL);
