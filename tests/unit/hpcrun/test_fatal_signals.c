/* Signals that end the process, and faults: what was measured is written first; a fault is the
 * program's, unless hpcrun caused it. */
#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/unwind/memory.h"

#include <setjmp.h>

static void raise_term(void)
{
    raise(SIGTERM);
}

static void raise_child(void)
{
    raise(SIGCHLD);
    raise(SIGURG);
    raise(SIGWINCH);
    raise(SIGCONT);
}

static void lose_sample(void)
{
    send_signal(SIGIO, SI_QUEUE);
}

static void divide(void)
{
    volatile int ten = 10, zero = 0;
    ten = ten / zero;
}

static void touch_null(void)
{
    static int *volatile nowhere;
    *nowhere = 1;
}

static void raise_segv(void)
{
    raise(SIGSEGV);
}

static void what_was_measured_is_written_first(void **state)
{
    (void)state;
    begin_test();
    assert_ends_by(raise_term, SIGTERM);
    const uint64_t never = sys_mask_bit(SIGKILL) | sys_mask_bit(SIGSTOP);
    assert_int_equal(process_ended->mask, ~never); /* no second signal ends it meanwhile */
    assert_ends_by(divide, SIGFPE);
    assert_ends_by(touch_null, SIGSEGV);
    assert_ends_by(raise_segv, SIGSEGV);
    assert_goes_on(raise_child);
    assert_goes_on(lose_sample);
    set_action(SIGTERM, SIG_IGN, 0);
    assert_goes_on(raise_term);
    set_action(SIGSEGV, SIG_IGN, 0);
    assert_goes_on(raise_segv);
    assert_ends_by(touch_null, SIGSEGV); /* it can't be ignored */
}

static sigjmp_buf from_handler;

static void leap(int signal)
{
    on_signal(signal);
    siglongjmp(from_handler, 1);
}

static void a_fault_of_the_program_is_its_own(void **state)
{
    (void)state;
    begin_test();
    set_action(SIGSEGV, leap, 0);
    if (sigsetjmp(from_handler, 1) == 0)
        touch_null();
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.signal, SIGSEGV);
}

static void a_fault_of_ours_is_not(void **state)
{
    (void)state;
    begin_test();
    uint64_t value;
    set_action(SIGSEGV, on_signal, 0);
    assert_ptr_equal(kernel_action(SIGSEGV).handler, signals_fault_handler());
    assert_false(guard_load(8, &value));
    assert_int_equal(seen.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_is_written_first),
        cmocka_unit_test(a_fault_of_the_program_is_its_own),
        cmocka_unit_test(a_fault_of_ours_is_not),
    };
    return RUN_SIGNAL_TESTS(tests);
}
