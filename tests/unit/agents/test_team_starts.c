/* agents/gomp/team-starts.h: a thread that starts a team works or waits, by the code in which it is
 * sampled. The code is libgomp's of gcc 12. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/gomp/team-starts.h"

static struct agent_slot slot;

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    memcpy(to, (const void *)address, size);
    return true;
}

static bool read_nothing(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    return false;
}

STEP(begin)
{
    own_slot = &slot;
    slot_set_state(&slot, AGENT_SLOT_STARTING);
}

static bool works_with(bool (*read)(const struct agent_cursor *, uint64_t, void *, size_t),
                       const uint8_t *pc)
{
    const struct agent_host host = {.read = read};
    const struct agent_cursor cursor = {.leaf.pc = (uint64_t)pc};
    return works_at_team_start(&host, &cursor);
}

static bool works_at(const uint8_t *pc)
{
    return works_with(read_memory, pc);
}

#define NOPS 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
#define CODE(...)                                                                                  \
    {                                                                                              \
        NOPS NOPS __VA_ARGS__, NOPS NOPS                                                           \
    }
enum { FIRST = 24 };

TEST(a_wait_for_a_futex)
{
    static const uint8_t code[] = CODE(0x8b, 0x35, 0xda, 0x7e, 0x02, 0x00, /* mov op, %esi */
                                       0x45, 0x31, 0xd2,                   /* xor %r10d, %r10d */
                                       0x44, 0x89, 0xc0,                   /* mov %r8d, %eax */
                                       0x0f, 0x05,                         /* syscall */
                                       0x48, 0x83, 0xf8, 0xda);            /* cmp $-38, %rax */
    assert_true(works_at(code + FIRST));
    assert_true(works_at(code + FIRST + 9));
    assert_false(works_at(code + FIRST + 12));
    assert_false(works_at(code + FIRST + 14));
    assert_true(works_at(code + FIRST + 18));
}

/* The kernel does not interrupt it, so samples are behind it. */
TEST(the_call_that_wakes_the_team)
{
    static const uint8_t code[] = CODE(0xba, 0xff, 0xff, 0xff, 0x7f, /* mov $INT_MAX, %edx */
                                       0x44, 0x89, 0xc0,             /* mov %r8d, %eax */
                                       0x0f, 0x05,                   /* syscall */
                                       0x48, 0x83, 0xf8, 0xda);      /* cmp $-38, %rax */
    assert_true(works_at(code + FIRST + 5));
    assert_true(works_at(code + FIRST + 10));
}

TEST(a_loop_with_pause)
{
    static const uint8_t code[] = CODE(0xf3, 0x90,                         /* pause */
                                       0x48, 0x83, 0xc0, 0x01,             /* add $1, %rax */
                                       0x48, 0x39, 0xf0,                   /* cmp %rsi, %rax */
                                       0x74, 0x15,                         /* je its end */
                                       0x8b, 0x0f,                         /* mov (%rdi), %ecx */
                                       0x81, 0xf9, 0x00, 0x00, 0x00, 0x80, /* cmp $..., %ecx */
                                       0x74, 0xeb);                        /* je the loop */
    static const int instructions[] = {0, 2, 6, 9, 11, 13, 19};
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        assert_false(works_at(code + FIRST + instructions[i]));
    assert_true(works_at(code + FIRST - 1));
    assert_true(works_at(code + FIRST + 26));
}

/* In other states the slot tells. */
TEST(only_at_the_start_of_a_team)
{
    static const uint8_t code[] = CODE(0x90);
    assert_true(works_at(code + FIRST));
    slot_set_state(&slot, AGENT_SLOT_WORKING);
    assert_false(works_at(code + FIRST));
    slot_set_state(&slot, AGENT_SLOT_IDLE);
    assert_false(works_at(code + FIRST));
    own_slot = NULL;
    assert_false(works_at(code + FIRST));
}

TEST(code_that_cannot_be_read)
{
    static const uint8_t code[] = CODE(0xf3, 0x90);
    assert_true(works_with(read_nothing, code + FIRST));
}

EACH_TEST(begin, NULL);
