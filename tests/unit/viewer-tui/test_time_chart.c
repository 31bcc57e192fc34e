/* Rows, windows and idle times of a time line of threads that are made here. */
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/output/open-timeline.h"
#include "viewer-tui/timeline/time-chart.h"

#include <math.h>

#define N(array) (sizeof(array) / sizeof *(array))

static struct time_chart chart;

/* Threads with the profiles 1 to 6; 4 has no records. Threads 1, 3 and 5 are of process 71, the others of 72. */
static struct threads made_threads(void)
{
    static const char *const names[] = {"main", "worker", "worker", "none", "main", "helper"};
    struct threads threads = {0};
    for (uint32_t i = 0; i < 6; i++) {
        struct thread thread = {.profile = i + 1, .pid = i % 2 ? 72 : 71, .tid = 100 + i, .name = names[i]};
        thread.id = mem_strdup("id");
        vec_push(&threads.list, thread);
    }
    return threads;
}

static const struct made_record five[] = {
    {1, 100, 100, TRACE_WORK, 0, false},   {1, 300, 200, TRACE_IDLE, 0, false},
    {1, 310, 10, TRACE_NOBODY, 0, false},  {1, 400, 90, TRACE_WORK, 0, false},
    {2, 150, 150, TRACE_IDLE, 0, false},   {2, 200, 50, TRACE_WORK, 0, false},
    {2, 900, 100, TRACE_IDLE, 0, false},   {2, 1000, 70, TRACE_IDLE, 0, false},
    {2, 1000, 30, TRACE_READY, 0, false},  {3, 1000, 600, TRACE_WAITING, 0, false},
    {5, 1000, 1000, TRACE_WORK, 0, false}, {6, 500, 500, TRACE_WORK, 0, false},
};

static void begin(const struct made_record *records, size_t n)
{
    made.n_places = 1;
    begin_timeline(records, n, 1, true);
    chart = time_chart_of(timeline, NULL, made_threads(), 10);
}

STEP(end)
{
    time_chart_free(&chart);
    end_timeline(NULL);
}

EACH_TEST(NULL, end);

/* The profiles of a row's threads, "1 3 5", with "+" before those of a group. */
static void assert_rows(const char *expected)
{
    struct text all = {0};
    for (size_t row = 0; row < chart.rows.rows.n; row++) {
        const struct thread_row *of = &chart.rows.rows.at[row];
        text_add(&all, row ? ", " : "");
        text_add(&all, of->is_group ? "+" : "");
        for (size_t i = of->first; i < of->first + of->n; i++)
            text_printf(&all, "%s%u", i > of->first ? " " : "",
                        chart.rows.threads.list.at[chart.rows.order[i]].profile);
    }
    assert_string_equal(text_string(&all), expected);
    vec_free(&all);
}

TEST(rows_are_threads_or_groups_that_open)
{
    begin(five, N(five));
    assert_int_equal(chart.rows.n, 5);
    assert_rows("1, 2, 3, 5, 6");
    time_chart_group(&chart, BY_PROCESS);
    assert_rows("+1 3 5, +2 6");
    time_chart_toggle(&chart, 0);
    assert_rows("+1 3 5, 1, 3, 5, +2 6");
    time_chart_toggle(&chart, 2); /* a thread */
    assert_rows("+1 3 5, 1, 3, 5, +2 6");
    assert_int_equal(time_chart_row(&chart, 1), 2);
    assert_int_equal(time_chart_row(&chart, 4), 4); /* in a closed group */
    time_chart_toggle(&chart, 0);
    assert_rows("+1 3 5, +2 6");
    time_chart_group(&chart, BY_ROUTINE);
    assert_rows("+1 5, +2 3, +6");
    time_chart_group(&chart, BY_THREAD);
    time_chart_toggle(&chart, 0);
    assert_rows("1, 2, 3, 5, 6");
}

TEST(there_are_groups_if_there_are_more_threads_than_lines)
{
    begin(five, N(five));
    assert_int_equal(thread_rows_usual(&chart.rows, 5), BY_THREAD);
    assert_int_equal(thread_rows_usual(&chart.rows, 4), BY_PROCESS);
    for (size_t i = 0; i < chart.rows.threads.list.n; i++)
        chart.rows.threads.list.at[i].pid = 71;
    assert_int_equal(thread_rows_usual(&chart.rows, 4), BY_ROUTINE);
}

static double work_of(const struct time_cell *cells)
{
    double sum = 0;
    for (unsigned column = 0; column < chart.window.n; column++)
        sum += cells[column].states[TRACE_WORK];
    return sum;
}

TEST(groups_and_the_strip_are_sums)
{
    static const double work[] = {190, 50, 0, 1000, 500};
    begin(five, N(five));
    assert_true(fabs(work_of(time_chart_strip(&chart)) - 1740) < 1e-6); /* before any row was looked at */
    for (size_t row = 0; row < 5; row++)
        assert_true(fabs(work_of(time_chart_cells(&chart, row)) - work[row]) < 1e-6);
    time_chart_group(&chart, BY_PROCESS);
    assert_true(fabs(work_of(time_chart_cells(&chart, 0)) - 1190) < 1e-6);
    time_chart_show(&chart, 0, 500, 5);
    time_chart_toggle(&chart, 1);
    for (size_t row = 0; row < chart.rows.rows.n; row++)
        time_chart_cells(&chart, row);
    assert_true(fabs(work_of(time_chart_strip(&chart)) - (190 + 50 + 500 + 500)) < 1e-6); /* of the groups' cells */
}

static void assert_window(uint64_t from, uint64_t to)
{
    assert_int_equal(chart.window.begin, from);
    assert_int_equal(chart.window.end, to);
}

TEST(windows_stay_in_the_run)
{
    begin(five, N(five));
    assert_window(0, 1000);
    time_chart_zoom(&chart, 0.5, 300); /* 300 stays at 3 tenths */
    assert_window(150, 650);
    time_chart_pan(&chart, 2);
    assert_window(250, 750);
    time_chart_pan(&chart, 100);
    assert_window(500, 1000);
    time_chart_pan(&chart, -100);
    assert_window(0, 500);
    time_chart_zoom(&chart, 2, 400);
    assert_window(0, 1000);
    time_chart_zoom(&chart, 0.001, 1000); /* a nanosecond for each column */
    assert_int_equal(chart.window.end - chart.window.begin, 10);
    time_chart_show(&chart, 900, 100, 4);
    assert_window(900, 904);
    time_chart_show(&chart, 5000, 6000, 4);
    assert_window(0, 1000);
}

static void assert_idle(const struct time_stretch *stretch, size_t thread, uint64_t from, uint64_t to)
{
    assert_int_equal(stretch->thread, thread);
    assert_int_equal(stretch->begin, from);
    assert_int_equal(stretch->end, to);
}

/* The idle times of thread 2 from 800 on are one, although a sample is partly ready; thread 3 waits, which does not count
 * where workers are idle. */
TEST(idle_times_are_found_from_the_longest_on)
{
    struct time_stretch stretch, next;
    begin(five, N(five));
    assert_true(time_chart_longest_idle(&chart, NULL, &stretch));
    assert_idle(&stretch, 0, 100, 310);
    assert_true(time_chart_longest_idle(&chart, &stretch, &next));
    assert_idle(&next, 1, 800, 1000);
    assert_true(time_chart_longest_idle(&chart, &next, &stretch));
    assert_idle(&stretch, 1, 0, 150);
    assert_false(time_chart_longest_idle(&chart, &stretch, &next));
}

/* Without idle workers, threads that wait; a gap ends that. */
TEST(without_idle_workers_waiting_counts)
{
    static const struct made_record records[] = {{1, 100, 100, TRACE_WAITING, 0, false},
                                                 {1, 150, 20, TRACE_WAITING, 0, false},
                                                 {2, 1000, 90, TRACE_WAITING, 0, false}};
    struct time_stretch stretch, next;
    begin(records, N(records));
    assert_true(time_chart_longest_idle(&chart, NULL, &stretch));
    assert_idle(&stretch, 0, 0, 100);
    assert_true(time_chart_longest_idle(&chart, &stretch, &next));
    assert_idle(&next, 1, 910, 1000);
    assert_true(time_chart_longest_idle(&chart, &next, &stretch));
    assert_idle(&stretch, 0, 130, 150);
}

TEST(a_run_without_waits_has_no_idle_time)
{
    static const struct made_record records[] = {{1, 100, 100, TRACE_WORK, 0, false}};
    struct time_stretch stretch;
    begin(records, N(records));
    assert_false(time_chart_longest_idle(&chart, NULL, &stretch));
}

/* The record with most of the cell, not the longest one. */
TEST(a_cell_has_a_largest_record)
{
    static const struct made_record records[] = {
        {1, 100, 100, TRACE_WORK, 0, false}, {1, 200, 60, TRACE_WORK, 1, false}, {1, 400, 20, TRACE_WORK, 2, false}};
    uint32_t nodes[] = {7, 8, 9};
    begin(records, N(records));
    struct open_timeline open = {.timeline = timeline, .scopes = {.n = 3, .node = nodes}, .chart = chart};
    assert_int_equal(timeline_largest_node(&open, 0, 0, 200), 7);
    assert_int_equal(timeline_largest_node(&open, 0, 80, 200), 8);
    assert_int_equal(timeline_largest_node(&open, 0, 190, 400), 9);
    assert_int_equal(timeline_largest_node(&open, 0, 250, 350), 0);
    assert_int_equal(timeline_largest_node(&open, 0, 400, 500), 0);
    nodes[1] = 0;
    assert_int_equal(timeline_largest_node(&open, 0, 80, 200), 7);
}
