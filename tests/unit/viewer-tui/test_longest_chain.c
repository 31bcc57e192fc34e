#include "tests/unit/cmocka_suite.h"
#include "tests/unit/random_numbers.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/base/scope.h"
#include "viewer-tui/timeline/chain-times.h"

#include <math.h>

/* Places 0 to 3 are in procedures 0 to 3. */
static const uint32_t procedures[] = {0, 1, 2, 3};

static uint64_t step = 1, window = 100; /* one in `step` windows of so many ns is complete */

static void begin(const struct made_record *records, size_t n, const struct made_wake_up *wake_ups, size_t n_wake_ups)
{
    end_timeline(NULL);
    made.step = step;
    made.window = window;
    made.n_places = 4;
    made.wake_ups = wake_ups;
    made.n_wake_ups = n_wake_ups;
    begin_timeline(records, n, 1, true);
}

EACH_TEST(NULL, end_timeline);

/* A record in each of three threads. */
static const struct made_record three[] = {
    {1, 10, 10, TRACE_WORK, 0, false}, {2, 10, 10, TRACE_WORK, 1, false}, {3, 10, 10, TRACE_WORK, 2, false}};

static void assert_pieces(const chain_pieces *pieces, const struct chain_piece *expected, size_t n)
{
    assert_int_equal(pieces->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(pieces->at[i].thread, expected[i].thread);
        assert_int_equal(pieces->at[i].is_unknown, expected[i].is_unknown);
        assert_int_equal(pieces->at[i].from, expected[i].from);
        assert_int_equal(pieces->at[i].runs, expected[i].runs);
        assert_int_equal(pieces->at[i].to, expected[i].to);
    }
}

static void check_chain(const uint64_t *ends, uint32_t thread, uint64_t from, uint64_t to,
                        const struct chain_piece *expected, size_t n)
{
    chain_pieces pieces = longest_chain(timeline, ends, thread, from, to);
    assert_pieces(&pieces, expected, n);
    vec_free(&pieces);
}

/* The chain that ends in a thread has these pieces: {thread, is_unknown, from, runs, to}. */
#define ASSERT_CHAIN(ends, thread, from, to, ...)                                                  \
    check_chain(ends, thread, from, to, (const struct chain_piece[]){__VA_ARGS__},            \
                sizeof(const struct chain_piece[]){__VA_ARGS__} / sizeof(struct chain_piece))

/* Thread 1 creates 2 and 3; 3 waits for 2, and 1 for 3. 2 was woken by 1 in between. */
TEST(it_changes_to_the_thread_that_ended_a_wait)
{
    static const struct made_wake_up wake_ups[] = {
        {1, 400, 800, 810, 3}, {2, 100, 100, 100, 1}, {2, 150, 300, 305, 1}, {3, 120, 120, 120, 1}, {3, 200, 500, 520, 2}};
    begin(three, 3, wake_ups, 5);
    ASSERT_CHAIN(NULL, 0, 0, 1000, {0, false, 0, 0, 300}, {1, false, 300, 305, 500}, {2, false, 500, 520, 800},
                 {0, false, 800, 810, 1000});
}

/* Thread 1 creates 2, and later waits for its end: it has told an idle worker to end; one that works ends by itself. */
TEST(it_does_not_stay_on_idle_workers)
{
    static const struct made_wake_up wake_ups[] = {{1, 900, 950, 950, 2}, {2, 100, 100, 100, 1}};
    for (unsigned is_idle = 0; is_idle < 2; is_idle++) {
        const struct made_record records[] = {{1, 10, 10, TRACE_WORK, 0, false},
                                              {2, 800, 10, is_idle ? TRACE_IDLE : TRACE_WORK, 1, false}};
        begin(records, 2, wake_ups, 2);
        uint64_t turn = is_idle ? 900 : 100;
        ASSERT_CHAIN(NULL, 0, 0, 1000, {0, false, 0, 0, turn}, {1, false, turn, turn, 950}, {0, false, 950, 950, 1000});
    }
}

/* Thread 1 creates 2 and waits for it from 90 on; 2 begins near the end of that wait. */
TEST(a_creator_that_waits_has_created_before)
{
    static const struct made_wake_up wake_ups[] = {{1, 90, 195, 200, 2}, {2, 160, 160, 160, 1}};
    begin(three, 3, wake_ups, 2);
    ASSERT_CHAIN(NULL, 0, 0, 1000, {0, false, 0, 0, 90}, {1, false, 90, 160, 195}, {0, false, 195, 200, 1000});
}

/* 2 is said to have woken 1 before 3, created by 1, has created it. */
TEST(a_waker_that_had_not_begun_is_none)
{
    static const struct made_wake_up wake_ups[] = {{1, 250, 300, 310, 2}, {2, 500, 500, 500, 3}, {3, 400, 400, 400, 1}};
    begin(three, 3, wake_ups, 3);
    ASSERT_CHAIN(NULL, 0, 0, 1000, {0, false, 0, 0, 250}, {0, false, 250, 310, 1000});
}

/* 2 was created in a window of which only long waits are known, or when such a window begins. */
TEST(creations_in_windows)
{
    static const uint32_t times[] = {150, 400, 401, 399};
    step = 4;
    for (size_t i = 0; i < 4; i++) {
        uint32_t at = times[i];
        const struct made_wake_up wake_ups[] = {{1, 590, 780, 790, 2}, {2, at, at, at, 1}};
        begin(three, 3, wake_ups, 2);
        chain_pieces pieces = longest_chain(timeline, NULL, 1, 0, 800);
        for (size_t k = 0; k < pieces.n; k++)
            assert_int_equal(pieces.at[k].thread, pieces.at[k].to > at);
        vec_free(&pieces);
        }
    step = 1;
}

/* Thread 2 ends before it is said to have released 1. 3 has woken it, whose creation is lost, or before the process's begin by
 * its clock. */
TEST(threads_are_within_their_lives)
{
    static const struct made_wake_up wake_ups[] = {{1, 500, 800, 810, 2}, {2, 600, 700, 700, 3}, {3, 390, 390, 390, 2}};
    static const uint64_t ends[] = {UINT64_MAX, 790, UINT64_MAX};
    for (unsigned has_creation = 0; has_creation < 2; has_creation++) {
        begin(three, 3, wake_ups, has_creation ? 3 : 2);
        ASSERT_CHAIN(ends, 0, 400, 1000, {2, false, 400, 400, 700}, {1, false, 700, 700, 790}, {0, false, 790, 810, 1000});
    }
}

/* Thread 1 joins 2 long after that has ended, and is kept waiting by others. */
TEST(a_waker_that_had_ended_is_none)
{
    static const struct made_wake_up wake_ups[] = {{1, 150, 380, 385, 2}, {1, 700, 720, 720, 2}, {2, 100, 100, 100, 1}};
    static const uint64_t ends[] = {UINT64_MAX, 400, UINT64_MAX};
    begin(three, 3, wake_ups, 3);
    ASSERT_CHAIN(ends, 0, 0, 1000, {0, false, 0, 0, 100}, {1, false, 100, 100, 380}, {0, false, 380, 385, 1000});
}

TEST(without_wake_ups_it_stays_on_the_thread)
{
    begin(three, 3, NULL, 0);
    ASSERT_CHAIN(NULL, 2, 40, 1000, {2, false, 40, 40, 1000});
}

/* Clocks of threads differ a little: thread 2 seems to have released 1 just after it began to wait for 3, or just
 * before it was woken up. */
TEST(a_release_in_a_wait_is_at_its_nearer_end)
{
    static const struct made_wake_up soon[] = {{1, 400, 802, 810, 2}, {2, 800, 900, 900, 3}},
                                     late[] = {{1, 400, 798, 810, 2}, {2, 300, 700, 800, 3}};
    begin(three, 3, soon, 2);
    ASSERT_CHAIN(NULL, 0, 0, 1000, {1, false, 0, 0, 802}, {0, false, 802, 810, 1000});
    begin(three, 3, late, 2);
    ASSERT_CHAIN(NULL, 0, 0, 1000, {2, false, 0, 0, 700}, {1, false, 700, 798, 798}, {0, false, 798, 810, 1000});
}

/* The windows from 0, 400 and 800 ns on are complete. In between the chain stays on the thread, but for long waits. */
TEST(between_windows_the_chain_is_not_known)
{
    static const struct made_wake_up wake_ups[] = {
        {1, 850, 860, 870, 2}, {2, 600, 690, 700, 3}, {2, 805, 808, 810, 1}, {3, 410, 440, 450, 1}};
    static const struct chain_piece expected[] = {{0, false, 0, 0, 100},   {0, true, 100, 100, 400},
                                                  {0, false, 400, 400, 440}, {2, false, 440, 450, 500},
                                                  {2, true, 500, 500, 690},  {1, true, 690, 700, 800},
                                                  {1, false, 800, 800, 805}};
    step = 4;
    begin(three, 3, wake_ups, 4);
    chain_pieces pieces = longest_chain(timeline, NULL, 1, 0, 805);
    assert_pieces(&pieces, expected, 7);
    struct chain_times times = chain_times_find(timeline, &pieces, procedures, 4);
    assert_true(times.unknown == 300 + 190 + 110);
    vec_free(&times.list);
    vec_free(&pieces);
    step = 1;
}

/* Whatever a file says: threads that do not exist, times in any order. 1 creates 2, and 2 creates 3. */
TEST(it_ends_and_has_no_gaps)
{
    for (unsigned round = 0; round < 300; round++) {
        step = 1 + round % 3;
        window = 7;
        struct made_wake_up wake_ups[30];
        for (uint32_t i = 0; i < 30; i++)
            wake_ups[i] = (struct made_wake_up){1 + i / 10, random_below(100), random_below(100), random_below(100),
                                                random_below(5)};
        wake_ups[0].began = wake_ups[0].time + 1; /* no creation */
        const uint32_t created[] = {0, random_below(100), random_below(100)};
        for (uint32_t i = 1; i < 3; i++)
            wake_ups[10 * i] = (struct made_wake_up){1 + i, created[i], created[i], created[i], i};
        begin(three, 3, wake_ups, 30);
        chain_pieces pieces = longest_chain(timeline, NULL, 0, 5, 100);
        uint64_t at = 5;
        for (size_t i = 0; i < pieces.n; i++) {
            assert_int_equal(pieces.at[i].from, at);
            assert_true(pieces.at[i].from <= pieces.at[i].runs && pieces.at[i].runs <= pieces.at[i].to);
            assert_true(pieces.at[i].from < pieces.at[i].to);
            assert_true(pieces.at[i].runs >= created[pieces.at[i].thread]);
            at = pieces.at[i].to;
        }
        assert_int_equal(at, 100);
        vec_free(&pieces);
        }
    step = 1;
    window = 100;
}

/* In a damaged file, two threads wake up each other in the middle of a wait of 6 ms, nanosecond by nanosecond. */
TEST(it_does_not_take_forever)
{
    const uint64_t ms = 1000000;
    const struct made_wake_up wake_ups[] = {{1, 0, 6 * ms, 6 * ms, 2}, {2, 0, 6 * ms, 6 * ms, 1}};
    begin(three, 3, wake_ups, 2);
    chain_pieces pieces = longest_chain(timeline, NULL, 0, 0, 6 * ms - 1);
    assert_true(pieces.n < 2000000);
    assert_int_equal(pieces.at[0].from, 0);
    assert_true(pieces.at[0].is_unknown);
    assert_int_equal(pieces.at[0].to, pieces.at[1].from);
    assert_int_equal(pieces.at[pieces.n - 1].to, 6 * ms - 1);
    vec_free(&pieces);
}

/* ---- times ---- */

static const struct chain_time *time_of(const struct chain_times *times, uint32_t thread, enum chain_part part,
                                        uint32_t procedure)
{
    for (size_t i = 0; i < times->list.n; i++)
        if (times->list.at[i].thread == thread && times->list.at[i].part == part &&
            times->list.at[i].procedure == procedure)
            return &times->list.at[i];
    static const struct chain_time none;
    return &none;
}

static void assert_ns(double found, double expected)
{
    assert_true(fabs(found - expected) < 1e-6);
}

/* Thread 1 has 600 ns on the chain: of its samples there, one in three is in procedure 1. Thread 2 has no sample. */
TEST(samples_divide_the_time_that_a_thread_is_on_the_chain)
{
    static const struct made_record records[] = {
        {1, 100, 100, TRACE_WORK, 0, false}, {1, 200, 100, TRACE_WORK, 1, false}, {1, 300, 100, TRACE_WORK, 0, false},
        {1, 400, 100, TRACE_WORK, 2, false}, {1, 900, 100, TRACE_WORK, 0, false}, {2, 900, 100, TRACE_WORK, 3, false}};
    const struct chain_piece at[] = {{0, false, 0, 0, 350}, {1, false, 350, 360, 500}, {0, false, 500, 510, 760}};
    const chain_pieces pieces = {(struct chain_piece *)at, 3, 3};
    begin(records, 6, NULL, 0);
    struct chain_times times = chain_times_find(timeline, &pieces, procedures, 4);
    double off_cpu = 760 - 510 - 100; /* the last piece has no sample for more than two intervals; the next is in 0 */
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 0)->waiting, off_cpu);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 0)->ns, (600 - off_cpu) * 2 / 3 + off_cpu);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 1)->ns, (600 - off_cpu) / 3);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 2)->ns, 0);
    assert_ns(time_of(&times, 0, CHAIN_WAKING, NOTHING)->ns, 10);
    assert_ns(time_of(&times, 1, CHAIN_UNSAMPLED, NOTHING)->ns, 140);
    assert_ns(time_of(&times, 1, CHAIN_WAKING, NOTHING)->ns, 10);
    assert_int_equal(times.n_unknown, 1);
    vec_free(&times.list);
}

/* Two waits: one of two samples, one of one. */
TEST(waits_on_the_chain_have_no_known_waker)
{
    static const struct made_record records[] = {
        {1, 100, 100, TRACE_WORK, 0, false},    {1, 200, 100, TRACE_WAITING, 1, false},
        {1, 300, 100, TRACE_OFF_CPU, 1, false}, {1, 400, 100, TRACE_WORK, 0, false},
        {1, 500, 100, TRACE_WAITING, 2, false}};
    const struct chain_piece at = {0, false, 0, 0, 500};
    const chain_pieces pieces = {(struct chain_piece *)&at, 1, 1};
    begin(records, 5, NULL, 0);
    struct chain_times times = chain_times_find(timeline, &pieces, procedures, 4);
    assert_int_equal(times.n_unknown, 2);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 1)->waiting, 200);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 2)->waiting, 100);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 0)->waiting, 0);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 0)->ns, 200);
    vec_free(&times.list);
}

/* A worker without work is idle: no call path is kept. After its last sample, the thread sleeps. */
TEST(time_in_no_procedure_is_idle_or_without_samples)
{
    static const struct made_record records[] = {{1, 100, 100, TRACE_WORK, 0, false},
                                                 {1, 200, 100, TRACE_IDLE, 3, false}};
    static const uint32_t none_of_idleness[] = {0, 1, 2, NOTHING};
    const struct chain_piece at[] = {{0, false, 0, 0, 200}, {0, false, 300, 300, 1000}};
    const chain_pieces pieces = {(struct chain_piece *)at, 2, 2};
    begin(records, 2, NULL, 0);
    struct chain_times times = chain_times_find(timeline, &pieces, none_of_idleness, 4);
    assert_ns(time_of(&times, 0, CHAIN_UNSAMPLED, NOTHING)->ns, 600);
    assert_ns(time_of(&times, 0, CHAIN_UNSAMPLED, NOTHING)->waiting, 600);
    assert_ns(time_of(&times, 0, CHAIN_IDLE, NOTHING)->ns, 150);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, 0)->ns, 150);
    assert_ns(time_of(&times, 0, CHAIN_IN_PROCEDURE, NOTHING)->ns, 0);
    vec_free(&times.list);
}
