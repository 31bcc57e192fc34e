/* When a thread counts as at work, of records with known gaps. */
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/timeline/at-work.h"

#define MS     1000000u
#define PERIOD 5

static struct made_record records[1000];
static size_t n_records;
static uint32_t now; /* ms */

/* Records of `ms` in a state, one after another. */
static void add(enum trace_state state, uint32_t ms)
{
    for (uint32_t to = now + ms; now < to; now += PERIOD)
        records[n_records++] = (struct made_record){1, (now + PERIOD) * MS, PERIOD * MS, state, 0, false};
}

static void begin(void)
{
    end_timeline(NULL);
    made.n_places = 1;
    made.places[0] = (struct timeline_place){.logical = 1, .working = 1};
    begin_timeline(records, n_records, 1, true);
    n_records = now = 0;
}

EACH_TEST(NULL, end_timeline);

static struct at_work rule(uint32_t least_ms)
{
    return at_work_of(timeline, &timeline->threads[0], PERIOD * MS, least_ms * (double)MS);
}

/* What is found from .. to, as pairs of ms in `expected`, with n of them. */
static void expect(uint32_t gap, uint32_t from, uint32_t to, const uint32_t expected[][2], size_t n)
{
    time_ranges found = {0};
    at_work_stretches(timeline, &timeline->threads[0], (uint64_t)gap * MS,
                      (struct time_range){(uint64_t)from * MS, (uint64_t)to * MS}, &found);
    assert_int_equal(found.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(found.at[i].from, (uint64_t)expected[i][0] * MS);
        assert_int_equal(found.at[i].to, (uint64_t)expected[i][1] * MS);
    }
    vec_free(&found);
}

TEST(short_gaps_are_at_work)
{
    add(TRACE_WORK, 100);
    now += 50;
    add(TRACE_OVERHEAD, 50);
    now += 55;
    add(TRACE_READY, 45);
    begin();
    assert_int_equal(rule(0).gap, 50 * MS);
    expect(50, 0, 300, (uint32_t[][2]){{0, 200}, {255, 300}}, 2);
    expect(55, 0, 300, (uint32_t[][2]){{0, 300}}, 1);
}

TEST(threads_that_wait_are_not_at_work)
{
    add(TRACE_WORK, 100);
    add(TRACE_WAITING, 200);
    add(TRACE_IDLE, 200);
    add(TRACE_OFF_CPU, 200);
    add(TRACE_WORK, 100);
    begin();
    expect(50, 0, 800, (uint32_t[][2]){{0, 100}, {700, 800}}, 2);
}

TEST(the_run_has_no_gaps_at_its_ends)
{
    now += 50;
    add(TRACE_WORK, 100);
    now += 200;
    add(TRACE_WORK, 100);
    now += 45;
    add(TRACE_IDLE, 5);
    begin();
    expect(50, 0, 500, (uint32_t[][2]){{0, 150}, {350, 500}}, 2);
    expect(49, 0, 500, (uint32_t[][2]){{50, 150}, {350, 450}}, 2);
}

/* What touches a piece of time is found as it is found in the whole. */
TEST(pieces_have_the_stretches_of_the_whole)
{
    add(TRACE_WORK, 100);
    now += 40;
    add(TRACE_WORK, 60);
    now += 200;
    add(TRACE_WORK, 100);
    begin();
    expect(50, 105, 130, (uint32_t[][2]){{0, 145}}, 1); /* whole records that reach into it */
    expect(50, 200, 400, NULL, 0);
    expect(50, 150, 401, (uint32_t[][2]){{95, 200}, {400, 405}}, 2);
}

TEST(a_gap_that_a_thread_has_often_is_short)
{
    for (int gaps = OFTEN - 1; gaps <= OFTEN; gaps++) {
        for (int i = 0; i <= gaps; i++) {
            add(TRACE_WORK, 20);
            now += 100 + (uint32_t)i;
        }
        begin();
        bool is_often = gaps == OFTEN;
        assert_int_equal(rule(0).gap, is_often ? 200 * MS : 50 * MS);
        assert_true(rule(0).spacing == (is_often ? 105.0 * MS : 1.0 * PERIOD * MS));
        assert_int_equal(rule(300).gap, 300 * MS);
        }
}
