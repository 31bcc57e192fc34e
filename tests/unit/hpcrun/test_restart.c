/* What becomes of a system call at whose instruction a sample and then a handler of the program's,
 * without SA_RESTART, find the thread. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/restart/restart.h"
#include "hpcrun/thread/thread.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static struct thread record;
__thread struct thread *thread_self = &record;

#define CALL   0x401000
#define BEHIND (CALL + 2)

/* At the instruction of a call that was made before, or was interrupted: both look the same. */
static ucontext_t at_call(long number, long second_argument)
{
    ucontext_t context = {0};
    greg_t *reg = context.uc_mcontext.gregs;
    reg[REG_RIP] = CALL;
    reg[REG_RCX] = BEHIND;
    reg[REG_RSP] = 0x7ffd0000;
    reg[REG_RAX] = number;
    reg[REG_RSI] = second_argument;
    return context;
}

static bool ends_with_eintr(long number, long second_argument, bool restarts)
{
    ucontext_t context = at_call(number, second_argument);
    const greg_t *reg = context.uc_mcontext.gregs;
    restart_mark(&context);
    restart_before_handler(&context, restarts);
    if (reg[REG_RIP] == BEHIND) {
        assert_int_equal(reg[REG_RAX], -EINTR);
        return true;
    }
    assert_int_equal(reg[REG_RIP], CALL);
    assert_int_equal(reg[REG_RAX], number);
    return false;
}

TEST(a_call_that_waits_is_ended)
{
    assert_true(ends_with_eintr(SYS_read, 0, false));
    assert_true(ends_with_eintr(SYS_wait4, 0, false));
    assert_true(ends_with_eintr(SYS_futex, FUTEX_WAIT_PRIVATE, false));
    assert_true(ends_with_eintr(SYS_futex, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, false));
    assert_true(ends_with_eintr(SYS_fcntl, F_SETLKW, false));
}

TEST(unless_the_handler_restarts_it)
{
    assert_false(ends_with_eintr(SYS_read, 0, true));
}

TEST(a_call_that_never_waits_is_not)
{
    assert_false(ends_with_eintr(SYS_getppid, 0, false));
    assert_false(ends_with_eintr(SYS_close, 0, false));
    assert_false(ends_with_eintr(SYS_futex, FUTEX_WAKE_PRIVATE, false));
    assert_false(ends_with_eintr(SYS_fcntl, F_GETFL, false));
}

/* The kernel restarts these calls after any handler. */
TEST(nor_one_that_always_starts_again)
{
    assert_false(ends_with_eintr(SYS_clone, 0, false));
    assert_false(ends_with_eintr(SYS_futex, FUTEX_LOCK_PI_PRIVATE, false));
}

/* Both look the same; the mark tells them apart, and serves once. */
TEST(a_call_that_no_sample_found_is_not)
{
    ucontext_t marked = at_call(SYS_read, 0), other = at_call(SYS_read, 0);
    const greg_t *reg = other.uc_mcontext.gregs;
    other.uc_mcontext.gregs[REG_RSP] += 4096; /* another activation of the same code */
    restart_mark(&marked);
    restart_before_handler(&other, false);
    assert_int_equal(reg[REG_RIP], CALL);
    restart_before_handler(&marked, false);
    assert_int_equal(marked.uc_mcontext.gregs[REG_RIP], BEHIND);
    other = at_call(SYS_read, 0);
    restart_before_handler(&other, false);
    assert_int_equal(reg[REG_RIP], CALL);
}

/* A handler that interrupts code elsewhere, with the same number by chance in rax. */
TEST(other_code_stays)
{
    ucontext_t context = at_call(SYS_read, 0);
    greg_t *reg = context.uc_mcontext.gregs;
    restart_mark(&context);
    reg[REG_RCX] = 77;
    restart_before_handler(&context, false);
    assert_int_equal(reg[REG_RIP], CALL);
    assert_int_equal(reg[REG_RAX], SYS_read);
    assert_int_equal(reg[REG_RCX], 77);
}

/* A call that continues one that has done a part ends with that part, whatever the handler's
 * flags. */
TEST(a_call_for_the_rest_is_ended)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        ucontext_t rest = at_call(SYS_write, 0), inner = at_call(SYS_write, 0);
        greg_t sp = rest.uc_mcontext.gregs[REG_RSP];
        inner.uc_mcontext.gregs[REG_RSP] = sp - 4096; /* in a handler that interrupted it */
        restart_has_part((void *)(sp + 100));
        restart_before_handler(&inner, restarts);
        assert_int_equal(inner.uc_mcontext.gregs[REG_RIP], CALL);
        restart_before_handler(&rest, restarts);
        assert_int_equal(rest.uc_mcontext.gregs[REG_RIP], BEHIND);
        assert_int_equal(rest.uc_mcontext.gregs[REG_RAX], -EINTR);
        restart_has_part(NULL);
        rest = at_call(SYS_write, 0);
        restart_before_handler(&rest, restarts);
        assert_int_equal(rest.uc_mcontext.gregs[REG_RIP], CALL);
    }
}
