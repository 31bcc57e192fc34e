/* Stacks whose guards have no line in /proc/PID/maps, as those of threads of glibc 2.42. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/foreign-maps.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAGE          4096u
#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL */

struct process process;

int measured_open(int pid, const char *name, int flags)
{
    char path[64];
    (void)pid;
    snprintf(path, sizeof path, "/proc/self/%s", name);
    return open(path, flags);
}

bool mapping_is_module(const struct mapping *mapping)
{
    (void)mapping;
    return false;
}

/* What the kernel tells of guards from Linux 6.15 on. */
static bool has_guards(uint64_t at)
{
    return madvise((void *)at, PAGE, GUARD_INSTALL) == 0;
}

static uint64_t mapped_at; /* CLOCK_MONOTONIC of the last change */

static uint64_t map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    mapped_at = sys_clock(CLOCK_MONOTONIC);
    return (uint64_t)at;
}

static enum foreign_stack find(uint64_t sp, uint64_t *low, uint64_t *high)
{
    enum foreign_stack found;
    *low = *high = 0;
    while ((found = foreign_stack(sp, mapped_at, low, high)) == STACK_NOT_YET_KNOWN)
        continue;
    return found;
}

TEST(a_stack_goes_from_its_guard_to_the_next_one)
{
    uint64_t at = map(200 * PAGE), low, high;
    if (!has_guards(at) || find(at + 2 * PAGE, &low, &high) != STACK_FOUND)
        skip();
    for (unsigned i = 1; i < 100; i++) /* more than are asked for at once */
        assert_true(has_guards(at + 2 * i * PAGE));
    for (unsigned i = 0; i < 99; i++) {
        assert_int_equal(find(at + (2 * i + 1) * PAGE + 100, &low, &high), STACK_FOUND);
        assert_int_equal(low, at + (2 * i + 1) * PAGE);
        assert_int_equal(high, low + PAGE);
    }
    assert_int_equal(find(at + 199 * PAGE + 4088, &low, &high), STACK_FOUND);
    assert_int_equal(low, at + 199 * PAGE);
    assert_in_range(high, at + 200 * PAGE, UINT64_MAX);
}

TEST(other_memory_is_no_stack)
{
    uint64_t at = map(200u << 20), low, high; /* a guard far away is that of other memory */
    assert_int_equal(find(at + (150u << 20), &low, &high), STACK_NONE);
    if (!has_guards(at))
        skip();
    assert_int_equal(find(at + (150u << 20), &low, &high), STACK_NONE);
    assert_int_equal(low, 0);
}

/* As of older versions. */
TEST(a_guard_with_a_line)
{
    uint64_t at = map(3 * PAGE), low, high;
    assert_int_equal(mprotect((void *)at, PAGE, PROT_NONE), 0);
    assert_int_equal(find(at + 2 * PAGE, &low, &high), STACK_FOUND);
    assert_int_equal(low, at + PAGE);
    assert_in_range(high, at + 3 * PAGE, UINT64_MAX);
}

EACH_TEST(NULL, NULL);
