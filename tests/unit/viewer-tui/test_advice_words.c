/* What names of libc's procedures say, and how gains and findings are put. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/libc-procedures.h"
#include "viewer-tui/advice/wording.h"

#include <math.h>

TEST(names_say_what_is_waited_for)
{
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
        {"<std::sys::sync::mutex::futex::Mutex>::lock_contended", WAIT_LOCK},
        {"std::sys::unix::locks::futex_rwlock::RwLock::write_contended", WAIT_LOCK},
        {"parking_lot::raw_mutex::RawMutex::lock_slow", WAIT_LOCK},
        {"<std::sys::sync::thread_parking::futex::Parker>::park", WAIT_CONDITION},
        {"std::sys_common::thread_parker::futex::Parker::park_timeout", WAIT_CONDITION},
        {"<std::sys::sync::mutex::futex::Mutex>::unlock", WAIT_NONE},
        {"car::Garage::park", WAIT_NONE},
        {"std::system_error::wait", WAIT_NONE},
        {"pthread_mutex_unlock", WAIT_NONE},
        {"reader", WAIT_NONE},
        {"", WAIT_NONE},
        {"_", WAIT_NONE},
        {"std::mutex::lock()", WAIT_NONE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(wait_of(known[i].name), known[i].wait);
}

TEST(system_calls_are_known)
{
    static const char *const calls[] = {"write",    "__write_nocancel", "accept4",
                                        "__mmap64", "munmap",           "madvise",
                                        "writev",   "syscall",          "access"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_true(is_system_call(calls[i]));
    assert_false(is_system_call("pthread_mutex_lock"));
    assert_false(is_system_call("memcpy"));
}

TEST(threads_begin_in_libc)
{
    assert_true(begins_thread("clone3"));
    assert_true(begins_thread("start_thread"));
    assert_false(begins_thread("start_threads"));
}

TEST(a_gain_is_what_is_left)
{
    struct share share = {0.2, 0.1, 0.5};
    struct gain gain = gain_without(&share);
    assert_true(gain.factor == 1.25 && gain.high == 2);
    assert_true(fabs(gain.low - 1 / 0.9) < 1e-12);
    struct share all = {1, 1, 1};
    assert_true(isinf(gain_without(&all).factor));
}

TEST(numbers_have_two_digits)
{
    assert_string_equal(as_percent(0.327).text, "33 %");
    assert_string_equal(as_percent(0.005).text, "0.5 %");
    assert_string_equal(as_percent(0.0996).text, "10 %");
    assert_string_equal(as_percent(0.9951).text, "100 %");
    assert_string_equal(as_percent(0.0004).text, "<0.1 %");
    assert_string_equal(as_percent(0).text, "0 %");
    assert_string_equal(as_seconds(2.94).text, "2.9 s");
    assert_string_equal(as_seconds(22.04).text, "22 s");
    assert_string_equal(as_seconds(1234).text, "1200 s");
    assert_string_equal(as_seconds(0.26).text, "0.26 s");
    assert_string_equal(as_seconds(0.048).text, "48 ms");
    assert_string_equal(as_seconds(0.00004).text, "40 us");
    assert_string_equal(as_factor(1.949).text, "1.9x");
    assert_string_equal(as_factor(2).text, "2.0x");
    assert_string_equal(as_factor(41.6).text, "42x");
    assert_string_equal(as_factor(101).text, "more than 100x");
    assert_string_equal(as_factor(INFINITY).text, "more than 100x");
}

TEST(shares_with_intervals)
{
    struct text text = {0};
    share_describe(&(struct share){0.158, 0.141, 0.176}, "", &text);
    text_add(&text, ", ");
    share_describe(&(struct share){0, 0, 0.007}, "3.0% spawn", &text);
    assert_string_equal(text_string(&text), "16 % (14 to 18 %), 0 % (0 to 0.7 %; 3.0% spawn)");
    vec_free(&text);
}

static void assert_called(const char *procedure, const char *expected)
{
    struct text text = {0};
    add_called_name(procedure, &text);
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

TEST(variants_have_the_name_that_is_called)
{
    assert_called("__sin_fma", "sin");
    assert_called("__memmove_avx_unaligned_erms", "memmove");
    assert_called("__strlen_evex", "strlen");
    assert_called("__GI___libc_read", "read");
    assert_called("_int_malloc", "int_malloc");
    assert_called("qsort", "qsort");
}

static void add(struct findings *findings, enum finding_kind kind, enum finding_order order, double low)
{
    struct text text = {0};
    struct finding *finding = findings_add(findings, kind, &text);
    finding->order = order;
    finding->gain = (struct gain){low, low, low};
    vec_free(&text);
}

static void assert_order(struct findings *findings, const enum finding_kind *expected)
{
    findings_sort(findings);
    for (size_t i = 0; i < findings->list.n; i++)
        assert_int_equal(findings->list.at[i].kind, expected[i]);
    findings_free(findings);
}

/* What explains the rest first, then the largest certain gain, then where the time is. */
TEST(findings_are_in_order)
{
    struct findings findings = {0};
    add(&findings, FINDING_PARALLELIZATION, ORDER_OPEN, 9);
    add(&findings, FINDING_HOT_PLACE, ORDER_PLACE, 1);
    add(&findings, FINDING_NO_LINES, ORDER_FACT, 1);
    add(&findings, FINDING_IMBALANCE, ORDER_GAIN, 1.5);
    add(&findings, FINDING_NO_CPU, ORDER_MACHINE, 1);
    assert_order(&findings, (const enum finding_kind[]){FINDING_NO_CPU, FINDING_IMBALANCE, FINDING_HOT_PLACE,
                                                        FINDING_NO_LINES, FINDING_PARALLELIZATION});
}

/* However much can be gained elsewhere. */
TEST(the_hot_place_is_among_the_first_three)
{
    struct findings findings = {0};
    add(&findings, FINDING_BLOCKED, ORDER_GAIN, 1.2);
    add(&findings, FINDING_IMBALANCE, ORDER_GAIN, 1.5);
    add(&findings, FINDING_LOCK, ORDER_FIRST, 1.1);
    add(&findings, FINDING_ONE_THREAD, ORDER_GAIN, 1.3);
    add(&findings, FINDING_HOT_PLACE, ORDER_PLACE, 1);
    assert_order(&findings, (const enum finding_kind[]){FINDING_LOCK, FINDING_IMBALANCE, FINDING_HOT_PLACE,
                                                        FINDING_ONE_THREAD, FINDING_BLOCKED});
}
