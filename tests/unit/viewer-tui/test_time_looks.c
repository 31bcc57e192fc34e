/* How cells look, axes and times. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/scope.h"
#include "viewer-tui/output/open-timeline.h"
#include "viewer-tui/output/time-looks.h"

#include <math.h>

static struct timeline timeline = {.is_time = true};
static struct time_chart chart = {.timeline = &timeline};
static struct procedure_letters letters;

/* The look of a cell that is 100 ns long. */
static struct time_look look_of(struct time_cell cell)
{
    return time_look_of(&chart, &letters, &cell, 100);
}

TEST(a_cell_shows_the_state_with_the_most_time)
{
    struct time_look look =
        look_of((struct time_cell){.states = {[TRACE_WORK] = 30, [TRACE_IDLE] = 25, [TRACE_NOBODY] = 20}});
    assert_int_equal(look.symbol, '.'); /* both are idle */
    assert_int_equal(look.color, TIME_SKY);
    assert_true(fabs(look.share - 0.45) < 1e-9);
    assert_int_equal(look.second, TIME_GREEN); /* it fills the rest more than nothing does */
}

TEST(what_was_not_measured_is_empty)
{
    struct time_look look = look_of((struct time_cell){.states = {[TRACE_WORK] = 30, [TRACE_READY] = 5}});
    assert_int_equal(look.symbol, '#');
    assert_true(fabs(look.share - 0.3) < 1e-9);
    assert_int_equal(look.second, TIME_COLORS);
    look = look_of((struct time_cell){.value = NOTHING});
    assert_int_equal(look.symbol, ' ');
    assert_int_equal(look.color, TIME_COLORS);
    assert_true(look.share == 0);
}

/* Of several threads, a cell has more time than its length. */
TEST(a_group_is_full_from_one_thread_on)
{
    struct time_look look = look_of((struct time_cell){.states = {[TRACE_WAITING] = 300, [TRACE_OVERHEAD] = 100}});
    assert_int_equal(look.symbol, 'w');
    assert_true(fabs(look.share - 0.75) < 1e-9);
    assert_int_equal(look.second, TIME_VERMILION);
}

TEST(counts_fill_their_cells)
{
    timeline.is_time = false;
    struct time_look look = look_of((struct time_cell){.states = {[TRACE_WORK] = 3}});
    assert_true(look.share == 1);
    timeline.is_time = true;
}

TEST(procedures_are_letters_whose_case_is_their_share)
{
    chart.depth = 2;
    vec_push(&letters.procedures, 77);
    vec_push(&letters.procedures, 5);
    struct time_cell cell = {.states = {[TRACE_WORK] = 60, [TRACE_WAITING] = 40}, .value = 5, .of_value = 60};
    assert_int_equal(look_of(cell).symbol, 'B');
    assert_int_equal(look_of(cell).color, procedure_color(1));
    assert_true(fabs(look_of(cell).share - 0.6) < 1e-9);
    cell = (struct time_cell){.states = {[TRACE_WORK] = 60, [TRACE_IDLE] = 40}, .value = 77, .of_value = 45};
    assert_int_equal(look_of(cell).symbol, 'a'); /* less than half */
    cell.states[TRACE_IDLE] = 50;
    assert_int_equal(look_of(cell).symbol, '.'); /* idle time has no procedure */
    cell = (struct time_cell){.states = {[TRACE_WORK] = 60}, .value = 9, .of_value = 60};
    assert_int_equal(look_of(cell).symbol, '*'); /* it has no letter */
    assert_int_equal(look_of(cell).color, TIME_GRAY);
    chart.depth = 0;
    vec_free(&letters.procedures);
}

TEST(marked_time_alone_is_shown)
{
    static bool marks[1];
    chart.marks = marks;
    struct time_cell cell = {.states = {[TRACE_WORK] = 90}, .marked = 30};
    assert_int_equal(look_of(cell).symbol, '+');
    assert_true(fabs(look_of(cell).share - 0.3) < 1e-9);
    cell.marked = 60;
    assert_int_equal(look_of(cell).symbol, '#');
    cell.marked = 0;
    assert_int_equal(look_of(cell).symbol, ' ');
    chart.marks = NULL;
}

TEST(symbols_and_colors_differ)
{
    for (int a = 0; a < SHOWN_STATES; a++)
        for (int b = 0; b < a; b++) {
            assert_int_not_equal(state_looks[a].symbol, state_looks[b].symbol);
            assert_int_not_equal(state_looks[a].color, state_looks[b].color);
        }
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < a; b++)
            assert_int_not_equal(procedure_color(a), procedure_color(b));
        assert_int_not_equal(procedure_color(a), state_looks[SHOWN_IDLE].color);
        assert_int_not_equal(procedure_color(a), state_looks[SHOWN_OTHER].color);
    }
}

TEST(small_shares_can_be_seen)
{
    assert_string_equal(time_bar(0, true), " ");
    assert_string_equal(time_bar(1e-9, true), ".");
    assert_string_equal(time_bar(0.5, true), "=");
    assert_string_equal(time_bar(3, true), "#");
    assert_string_equal(time_bar(1, false), "█");
    assert_string_equal(time_bar(0.01, false), "▁");
}

/* ---- times ---- */

static void assert_time(uint64_t time, uint64_t step, const char *expected)
{
    struct text text = {0};
    timeline_add_time(time, step, &text);
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

TEST(times_have_the_decimals_of_their_step)
{
    assert_time(1500000000, 500000000, "1.5 s");
    assert_time(2000000000, 1000000000, "2 s");
    assert_time(1234567890, 1000000, "1.235 s");
    assert_time(1234567, 10000, "1.23 ms");
    assert_time(1234567, 1000, "1.235 ms");
    assert_time(1234, 1, "1.234 us");
    assert_time(90000000000, 20000000000, "90 s");
}

TEST(ticks_are_round)
{
    assert_int_equal(timeline_tick_step(1000, 10), 100);
    assert_int_equal(timeline_tick_step(1001, 10), 100);
    assert_int_equal(timeline_tick_step(1100, 10), 200);
    assert_int_equal(timeline_tick_step(3900, 10), 500);
    assert_int_equal(timeline_tick_step(7, 10), 1);
    assert_int_equal(timeline_tick_step(60000000000, 6), 10000000000);
}

static void assert_axis(struct time_window window, const char *expected)
{
    struct text text = {0};
    timeline_add_axis(&window, &text);
    text_trim(&text);
    assert_string_equal(text_string(&text), expected);
    vec_free(&text);
}

TEST(an_axis_has_labels_where_there_is_room)
{
    assert_axis((struct time_window){0, 2000000000, 40}, "|0.0 s    |0.5 s    |1.0 s    |1.5 s");
    assert_axis((struct time_window){300000000, 1300000000, 20}, "    |0.5 s    |1.0 s");
    assert_axis((struct time_window){0, 100, 3}, "");
}
