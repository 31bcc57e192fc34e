/* Signals that end the process, and faults: what was measured is written first; a fault is the
 * program's, unless hpcrun caused it. */
#include "tests/unit/hpcrun/signal_recorder.h"

#include "hpcrun/base/own-section.h"
#include "hpcrun/base/shared-pages.h"
#include "hpcrun/unwind/memory.h"

#include <sys/wait.h>
#include <unistd.h>

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

TEST(what_was_measured_is_written_first)
{
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

TEST(a_fault_of_the_program_is_its_own)
{
    begin_test();
    set_action(SIGSEGV, leap, 0);
    if (sigsetjmp(from_handler, 1) == 0)
        touch_null();
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.signal, SIGSEGV);
}

TEST(a_fault_of_ours_is_not)
{
    begin_test();
    uint64_t value;
    set_action(SIGSEGV, on_signal, 0);
    assert_ptr_equal(kernel_action(SIGSEGV).handler, signals_fault_handler());
    assert_false(guard_load(8, &value));
    assert_int_equal(seen.calls, 0);
}

TEST(a_sent_fault_waits_for_the_end_of_a_section)
{
    begin_test();
    set_action(SIGSEGV, on_signal, 0);
    uint64_t outer = own_section_begin(), inner = own_section_begin();
    raise(SIGSEGV);
    own_section_end(inner);
    assert_true(own_section_is_active());
    assert_int_equal(seen.calls, 0);
    own_section_end(outer);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(kernel_mask(), outer);
}

static void fault_in_a_section(void)
{
    own_section_begin();
    touch_null();
}

/* Nothing is written then: the locks of the section are held. */
TEST(a_fault_in_a_section_ends_the_process_at_once)
{
    begin_test();
    set_action(SIGSEGV, on_signal, 0);
    pid_t child = fork();
    if (child == 0) {
        fault_in_a_section();
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_int_equal(process_ended->calls, 0);
}

TEST(another_process_may_cut_the_arena_file_during_a_section)
{
    begin_test();
    char path[] = "/tmp/hpctest-XXXXXX";
    int fd = mkstemp(path);
    assert_return_code(fd, errno);
    unlink(path);
    if (shared_pages_open(fd) != 0)
        skip(); /* the file system can't allocate blocks */
    uint64_t *words = shared_pages(2 * 4096);
    assert_non_null(words);
    uint64_t mask = own_section_begin();
    assert_return_code(ftruncate(fd, 0), errno);
    words[5] = 7;
    words[5 + 512] = 8; /* in another page */
    assert_int_equal(words[5], 7);
    assert_int_equal(words[5 + 512], 8);
    own_section_end(mask);
    assert_true(shared_pages_are_lost());
    assert_int_equal(process_ended->calls, 0);
    shared_pages_close();
}

ALL_TESTS(take_signals, NULL);
