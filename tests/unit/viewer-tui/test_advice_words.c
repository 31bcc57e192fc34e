/* What names of libc's procedures say, and how gains and findings are put. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/user-code.h"

#include <math.h>

static void names_say_what_is_waited_for(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum wait wait;
    } known[] = {
        {"pthread_mutex_lock", WAIT_LOCK},
        {"__pthread_mutex_lock", WAIT_LOCK},
        {"___pthread_mutex_lock", WAIT_LOCK},
        {"__lll_lock_wait", WAIT_LOCK},
        {"__lll_lock_wait_private", WAIT_LOCK},
        {"pthread_rwlock_rdlock@@GLIBC_2.34", WAIT_LOCK},
        {"pthread_spin_lock", WAIT_LOCK},
        {"pthread_barrier_wait", WAIT_BARRIER},
        {"sem_wait", WAIT_SEMAPHORE},
        {"__new_sem_wait", WAIT_SEMAPHORE},
        {"accept", WAIT_IO},
        {"__GI___libc_read", WAIT_IO},
        {"__read_nocancel", WAIT_IO},
        {"pread64", WAIT_IO},
        {"writev", WAIT_IO},
        {"fsync", WAIT_IO},
        {"clock_nanosleep", WAIT_SLEEP},
        {"usleep", WAIT_SLEEP},
        {"pthread_cond_wait", WAIT_CONDITION},
        {"cnd_timedwait", WAIT_CONDITION},
        {"epoll_wait", WAIT_POLL},
        {"poll", WAIT_POLL},
        {"__pthread_clockjoin_ex", WAIT_JOIN},
        {"pthread_join", WAIT_JOIN},
        {"thrd_join", WAIT_JOIN},
        {"wait4", WAIT_CHILD},
        {"pthread_mutex_unlock", WAIT_NONE},
        {"reader", WAIT_NONE},
        {"", WAIT_NONE},
        {"_", WAIT_NONE},
        {"std::mutex::lock()", WAIT_NONE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(wait_of(known[i].name), known[i].wait);
}

static void system_calls_are_known(void **state)
{
    (void)state;
    static const char *const calls[] = {"write",    "__write_nocancel", "accept4",
                                        "__mmap64", "munmap",           "madvise",
                                        "writev",   "syscall",          "access"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_true(is_system_call(calls[i]));
    assert_false(is_system_call("pthread_mutex_lock"));
    assert_false(is_system_call("memcpy"));
}

static void threads_begin_in_libc(void **state)
{
    (void)state;
    assert_true(begins_thread("clone3"));
    assert_true(begins_thread("start_thread"));
    assert_false(begins_thread("start_threads"));
}

static void a_gain_is_what_is_left(void **state)
{
    (void)state;
    struct share share = {0.2, 0.1, 0.5};
    struct gain gain = gain_without(&share);
    assert_true(gain.factor == 1.25 && gain.high == 2);
    assert_true(fabs(gain.low - 1 / 0.9) < 1e-12);
    struct share all = {1, 1, 1};
    assert_true(isinf(gain_without(&all).factor));
}

static void assert_described(struct gain gain, const char *expected)
{
    struct text text = {0};
    gain_describe(&gain, &text);
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

static void gains_in_words(void **state)
{
    (void)state;
    assert_described((struct gain){1.25, 1.11, 2}, "1.25x faster (1.11x to 2.00x)");
    assert_described((struct gain){1.25, 1.25, 1.25}, "1.25x faster");
    assert_described((struct gain){INFINITY, 50, INFINITY},
                     "more than 100x faster (50.00x to more than 100x)");
}

static void add(struct findings *findings, enum finding_kind kind, double low, int order)
{
    struct text text = {0};
    struct finding *finding = findings_add(findings, kind, &text);
    if (low > 0)
        finding_set_gain(finding, (struct gain){low, low, low});
    if (order)
        finding->order = order;
}

/* What hides the program first, then the largest certain gain, then what claims none. */
static void findings_are_in_order(void **state)
{
    (void)state;
    struct findings findings = {0};
    add(&findings, FINDING_HOT_PLACE, 0, 0);
    add(&findings, FINDING_BLOCKED, 1.2, 0);
    add(&findings, FINDING_NO_CPU, 0, 0);
    add(&findings, FINDING_IMBALANCE, 1.5, 0);
    add(&findings, FINDING_NO_LINES, 0, FINDING_BEFORE_ALL);
    findings_sort(&findings);
    static const enum finding_kind expected[] = {
        FINDING_NO_LINES, FINDING_IMBALANCE, FINDING_BLOCKED, FINDING_NO_CPU, FINDING_HOT_PLACE};
    for (size_t i = 0; i < findings.list.n; i++)
        assert_int_equal(findings.list.at[i].kind, expected[i]);
    findings_free(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_is_waited_for),
        cmocka_unit_test(system_calls_are_known),
        cmocka_unit_test(threads_begin_in_libc),
        cmocka_unit_test(a_gain_is_what_is_left),
        cmocka_unit_test(gains_in_words),
        cmocka_unit_test(findings_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
