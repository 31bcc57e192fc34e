/* Cells of a time line, against sums by hand. */
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/base/scope.h"
#include "viewer-tui/timeline/time-cells.h"

#include <math.h>

#define N(array) (sizeof(array) / sizeof *(array))

static struct time_cell cells[64];

static void begin(const struct made_record *records, size_t n, bool is_time)
{
    made.n_places = 4;
    begin_timeline(records, n, 1, is_time);
}

EACH_TEST(NULL, end_timeline);

/* Finds the cells of all threads together. */
static void find(struct time_query query)
{
    const struct timeline_thread *threads[8];
    query.timeline = timeline;
    for (uint32_t i = 0; i < timeline->header.n_threads; i++)
        threads[i] = &timeline->threads[i];
    time_cells_find(&query, threads, timeline->header.n_threads, cells);
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * (1 + fabs(expected)))
        fail_msg("%g, expected %g", value, expected);
}

/* One sample of 100 ns, in cells of 40: its records reach into three of them, in proportion. */
TEST(a_record_is_in_all_cells_that_it_reaches_into)
{
    static const struct made_record records[] = {{1, 110, 75, TRACE_WORK, 0, false},
                                                 {1, 110, 25, TRACE_READY, 1, false}};
    begin(records, N(records), true);
    find((struct time_query){.window = {0, 160, 4}});
    static const double parts[] = {0.3, 0.4, 0.3, 0}; /* of 10 to 110 */
    for (unsigned i = 0; i < 4; i++) {
        assert_near(cells[i].states[TRACE_WORK], 75 * parts[i]);
        assert_near(cells[i].states[TRACE_READY], 25 * parts[i]);
        assert_near(time_cell_sum(&cells[i]), 100 * parts[i]);
        assert_int_equal(cells[i].value, NOTHING);
    }
}

TEST(what_is_outside_of_the_window_does_not_count)
{
    static const struct made_record records[] = {
        {1, 50, 50, TRACE_IDLE, 0, false}, {1, 150, 100, TRACE_WORK, 0, false}, {1, 200, 50, TRACE_WAITING, 0, false}};
    begin(records, N(records), true);
    find((struct time_query){.window = {100, 140, 2}});
    for (unsigned i = 0; i < 2; i++)
        assert_near(cells[i].states[TRACE_WORK], 20);
    assert_near(cells[0].states[TRACE_IDLE] + cells[1].states[TRACE_WAITING], 0);
    find((struct time_query){.window = {140, 160, 1}});
    assert_near(cells[0].states[TRACE_WORK], 10);
    assert_near(cells[0].states[TRACE_WAITING], 10);
}

/* Whatever the window, cells together have what the threads did in it. */
TEST(cells_add_up)
{
    static struct made_record records[600];
    uint32_t time = 0;
    unsigned random = 1;
    for (size_t i = 0; i < N(records); i++) {
        random = random * 1103515245 + 12345;
        time = i % 200 == 0 ? 0 : time;
        uint32_t amount = 1 + (random >> 16) % 50;
        time += amount + (random >> 8) % 30;
        records[i] = (struct made_record){(uint32_t)(i / 200), time, amount, 1 + (random >> 20) % 9, random % 4, false};
    }
    begin(records, N(records), true);
    for (unsigned n = 1; n <= 64; n += 7) {
        uint64_t from = 500 + 31 * n, to = 7000 + 13 * n;
        double sum = 0, expected = 0;
        find((struct time_query){.window = {from, to, n}});
        for (unsigned i = 0; i < n; i++)
            sum += time_cell_sum(&cells[i]);
        for (size_t i = 0; i < N(records); i++) {
            double begins = records[i].time - (double)records[i].amount, ends = records[i].time;
            expected += fmax(fmin(ends, (double)to) - fmax(begins, (double)from), 0);
        }
        assert_near(sum, expected);
    }
}

/* Of three records in a cell, the last one has the least time. */
TEST(a_cell_has_the_value_with_the_most_time)
{
    static const struct made_record records[] = {
        {1, 30, 30, TRACE_WORK, 0, false},  {1, 70, 40, TRACE_WORK, 1, false},  {1, 90, 20, TRACE_WAITING, 2, false},
        {1, 100, 10, TRACE_IDLE, 3, false}, {2, 100, 25, TRACE_WORK, 0, false},
    };
    static const uint32_t values[] = {7, 2, 7, NOTHING};
    begin(records, N(records), true);
    find((struct time_query){.window = {0, 100, 1}, .values = values, .n_values = 8});
    assert_int_equal(cells[0].value, 7);
    assert_near(cells[0].of_value, 30 + 20 + 25);
    find((struct time_query){.window = {30, 70, 1}, .values = values, .n_values = 8});
    assert_int_equal(cells[0].value, 2);
    assert_near(cells[0].of_value, 40);
    find((struct time_query){.window = {0, 100, 10}, .values = values, .n_values = 8});
    static const uint32_t expected[] = {7, 7, 7, 2, 2, 2, 2, 7, 7, 7}; /* the last one of the other thread */
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(cells[i].value, expected[i]);
}

TEST(equal_values_have_a_fixed_order)
{
    static const struct made_record records[] = {{1, 50, 50, TRACE_WORK, 0, false}, {1, 100, 50, TRACE_WORK, 1, false}};
    static const uint32_t values[] = {5, 3, 0, 0};
    begin(records, N(records), true);
    find((struct time_query){.window = {0, 100, 1}, .values = values, .n_values = 8});
    assert_int_equal(cells[0].value, 3);
}

TEST(marked_places_are_summed_up)
{
    static const struct made_record records[] = {{1, 30, 30, TRACE_WORK, 0, false},
                                                 {1, 100, 70, TRACE_WAITING, 1, false}};
    static const bool marks[] = {false, true, false, false};
    begin(records, N(records), true);
    find((struct time_query){.window = {0, 100, 1}, .marks = marks});
    assert_near(cells[0].marked, 70);
}

/* CPU time ran, of wall-clock time the work. */
TEST(time_on_a_cpu_is_summed_up)
{
    static const struct made_record records[] = {{1, 30, 30, TRACE_WORK, 0, false}, {1, 50, 20, TRACE_IDLE, 1, false}};
    begin(records, N(records), true);
    find((struct time_query){.window = {0, 100, 1}});
    assert_near(cells[0].cpu, 50);
    assert_false(timeline_has_waits(timeline));
    timeline->event = "REALTIME";
    find((struct time_query){.window = {0, 100, 1}});
    assert_near(cells[0].cpu, 30);
    assert_true(timeline_has_waits(timeline));
}

TEST(records_of_wall_clock_time_ran_in_some_states)
{
    static const enum trace_state ran[] = {TRACE_WORK, TRACE_OVERHEAD};
    for (int of = 1; of < TRACE_STATES; of++) {
        bool expected = of == (int)ran[0] || of == (int)ran[1];
        assert_int_equal(record_ran(true, (uint64_t)of), expected);
        assert_true(record_ran(false, (uint64_t)of));
    }
    assert_true(record_ran(true, TRACE_WAITING | TRACE_AS_WAITING)); /* it spins */
    assert_false(record_ran(true, TRACE_OFF_CPU | TRACE_AS_WAITING));
}

/* Counts are at an instant. */
TEST(counts_are_in_the_cell_of_their_time)
{
    static const struct made_record records[] = {{1, 10, 1000, TRACE_WORK, 0, false},
                                                 {1, 99, 500, TRACE_WORK, 1, false}};
    begin(records, N(records), false);
    find((struct time_query){.window = {0, 100, 10}});
    for (unsigned i = 0; i < 10; i++)
        assert_near(cells[i].states[TRACE_WORK], i == 1 ? 1000 : i == 9 ? 500 : 0);
}

TEST(columns_have_times)
{
    static const struct time_window windows[] = {{0, 100, 10}, {3, 1000000007, 97}, {5, 12, 7}};
    for (size_t w = 0; w < N(windows); w++) {
        const struct time_window *window = &windows[w];
        assert_int_equal(time_window_at(window, 0), window->begin);
        assert_int_equal(time_window_at(window, window->n), window->end);
        for (unsigned i = 0; i < window->n; i++) {
            assert_true(time_window_at(window, i) < time_window_at(window, i + 1));
            assert_int_equal(time_window_column(window, time_window_at(window, i)), i);
            assert_int_equal(time_window_column(window, time_window_at(window, i + 1) - 1), i);
        }
    }
    assert_int_equal(time_window_column(&windows[0], 5000), 9);
    assert_int_equal(time_window_column(&windows[2], 0), 0);
}
