#include "tests/unit/cmocka_suite.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/time-samples.h"

static void begin(const struct made_record *records, size_t n, uint64_t unit, bool is_time)
{
    end_timeline(NULL);
    made.n_places = 3;
    for (uint32_t i = 0; i < 3; i++)
        made.places[i] = (struct timeline_place){.logical = 10 + i, .physical = 20 + i, .n = 4, .working = 1};
    begin_timeline(records, n, unit, is_time);
}

EACH_TEST(NULL, end_timeline);

/* Two threads; the second sample of the first one has three records. */
static const struct made_record two[] = {
    {2, 100, 60, TRACE_WORK, 0, true},     {2, 200, 30, TRACE_WORK, 1, false}, {2, 200, 10, TRACE_READY, 1, false},
    {2, 200, 60, TRACE_OFF_CPU, 1, false}, {2, 300, 100, TRACE_IDLE, 2, false}, {7, 1000, 5, TRACE_WAITING, 2, false},
};
#define N_TWO (sizeof two / sizeof *two)

/* The samples of a profile's thread. Returns the last one. */
static struct time_samples assert_samples(uint32_t profile, size_t n, const uint64_t *begins, const uint64_t *ends)
{
    struct time_samples sample = time_samples_from(timeline, timeline_thread(timeline, profile), 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(time_samples_next(&sample));
        assert_int_equal(sample.begin, begins[i]);
        assert_int_equal(sample.end, ends[i]);
    }
    struct time_samples none = sample;
    assert_false(time_samples_next(&none));
    return sample;
}

TEST(records_are_about_the_time_before_theirs)
{
    begin(two, N_TWO, 1, true);
    assert_non_null(timeline);
    assert_int_equal(timeline->end, 1000);
    assert_int_equal(timeline->n_records, 6);
    assert_string_equal(timeline->event, "CPUTIME");
    const struct timeline_thread *thread = timeline_thread(timeline, 2);
    assert_int_equal(thread->n_records, 5);
    struct time_samples sample = assert_samples(2, 3, (uint64_t[]){40, 100, 200}, (uint64_t[]){100, 200, 300});
    assert_int_equal(sample.first, 4);
    assert_int_equal(sample.amount, 100 << 4);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(trace_amount(sample.records[i].amount), two[i].amount << 4);
        assert_int_equal(time_sample_state(&sample, i), two[i].state);
        assert_int_equal((sample.records[i].amount & TRACE_WORKER) != 0, two[i].is_worker);
        assert_int_equal(timeline->places[sample.records[i].place].logical, 10 + two[i].place);
    }
    assert_samples(7, 1, (uint64_t[]){995}, (uint64_t[]){1000});
    assert_true(timeline_amount(timeline, 16e9) == 1);
}

/* The run of a sleeping process goes on after its last record. */
TEST(it_ends_with_the_last_process)
{
    begin(two, N_TWO, 1, true);
    static const struct {
        const char *processes;
        uint64_t end;
    } runs[] = {{"[{\"time_line_begin\": 1, \"wall\": 3}, {\"time_line_begin\": 0, \"wall\": 2}]", 4000000000},
                {"[{\"time_line_begin\": 0, \"wall\": 5e-7}]", 1000},
                {"[{\"time_line_begin\": null, \"wall\": 9}, {\"wall\": 9}]", 1000},
                {"[{\"time_line_begin\": 0, \"wall\": 1e300}, {\"time_line_begin\": 0, \"wall\": -1}]", 1000}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *run = json_pack("{s: o}", "processes", json_loads(runs[i].processes, 0, NULL));
        struct timeline *of = timeline_open(made.folder, run);
        assert_int_equal(of->end, runs[i].end);
        timeline_close(of);
        json_decref(run);
    }
}

TEST(profiles_without_records_have_no_thread)
{
    begin(two, N_TWO, 1, true);
    static const uint32_t others[] = {0, 1, 3, 6, 8, UINT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(timeline_thread(timeline, others[i]));
}

TEST(the_first_record_that_ends_at_a_time_or_later_is_found)
{
    begin(two, N_TWO, 1, true);
    const struct timeline_thread *thread = timeline_thread(timeline, 2);
    static const uint64_t times[][2] = {{0, 0}, {100, 0}, {101, 1}, {200, 1}, {201, 4}, {300, 4}, {301, 5}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(timeline_find(timeline, thread, times[i][0]), times[i][1]);
}

/* Intervals must not overlap, or a piece of time would count what another one does: a merged record can have a larger
 * amount than passed since the one before it. */
TEST(an_interval_begins_no_earlier_than_the_record_before_it_ended)
{
    static const struct made_record late[] = {
        {1, 10, 50, TRACE_WORK, 0, false}, {1, 20, 30, TRACE_WORK, 0, false}, {1, 30, 4, TRACE_WORK, 0, false}};
    begin(late, 3, 1, true);
    assert_samples(1, 3, (uint64_t[]){0, 10, 26}, (uint64_t[]){10, 20, 30});
}

TEST(times_have_a_unit)
{
    begin(two, N_TWO, 3, true);
    assert_int_equal(timeline->end, 3000);
    assert_samples(2, 3, (uint64_t[]){240, 500, 800}, (uint64_t[]){300, 600, 900});
    assert_int_equal(timeline_find(timeline, timeline_thread(timeline, 2), 301), 1);
}

TEST(counts_take_no_time)
{
    begin(two, N_TWO, 1, false);
    assert_samples(2, 3, (uint64_t[]){100, 200, 300}, (uint64_t[]){100, 200, 300});
    assert_true(timeline_amount(timeline, 48) == 3);
}

TEST(a_database_may_have_none)
{
    assert_null(timeline_open("/nonexistent", NULL));
    assert_null(problem_text());
}

/* Opens the two threads' file with a changed header, and damage[0 .. n-1] at `at`. */
static void expect_damage(uint64_t at, const void *damage, size_t n, const char *cause)
{
    begin(two, N_TWO, 1, true);
    memcpy(made.bytes + at, damage, n);
    reopen_timeline();
    assert_null(timeline);
    assert_non_null(problem_text());
    assert_non_null(strstr(problem_text(), cause));
}

#define EXPECT_DAMAGE(type, base, field, value, cause)                                                                \
    expect_damage((base) + offsetof(type, field), &(__typeof__(((type *)0)->field)){value}, sizeof((type *)0)->field, \
                  cause)

TEST(damage_of_the_lists_is_found_when_the_file_is_opened)
{
    expect_damage(0, "HPCTRACE", 8, "not a time line");
    EXPECT_DAMAGE(struct timeline_header, 0, version, 2, "another version");
    EXPECT_DAMAGE(struct timeline_header, 0, unit, 0, "unit");
    EXPECT_DAMAGE(struct timeline_header, 0, unit, UINT64_C(1) << 32, "unit");
    EXPECT_DAMAGE(struct timeline_header, 0, shift, 56, "unit");
    EXPECT_DAMAGE(struct timeline_header, 0, n_threads, UINT32_MAX, "outside");
    EXPECT_DAMAGE(struct timeline_header, 0, n_places, UINT64_MAX / 24 + 2, "outside");
    EXPECT_DAMAGE(struct timeline_header, 0, places, UINT64_MAX - 7, "outside");
    EXPECT_DAMAGE(struct timeline_header, 0, threads, 12, "outside");
    EXPECT_DAMAGE(struct timeline_header, 0, n_places, 0, "no places");
    uint64_t threads = made.header.threads, wake_lists = made.header.wake_lists;
    EXPECT_DAMAGE(struct timeline_thread, threads, profile, 7, "order");
    EXPECT_DAMAGE(struct timeline_thread, threads, records, 4, "outside");
    EXPECT_DAMAGE(struct timeline_thread, threads, n_records, UINT64_MAX, "outside");
    EXPECT_DAMAGE(struct timeline_thread, threads + sizeof(struct timeline_thread), records, UINT64_MAX - 7, "outside");
    EXPECT_DAMAGE(struct timeline_wake_list, wake_lists, n_wake_ups, UINT64_MAX, "outside");
    EXPECT_DAMAGE(struct timeline_wake_list, wake_lists + sizeof(struct timeline_wake_list), n_wake_ups, 1000, "outside");
    EXPECT_DAMAGE(struct timeline_wake_list, wake_lists, wake_ups, UINT64_MAX - 7, "outside");
}

/* One of the arrays of earlier files begins where the field would be. */
TEST(earlier_files_have_no_wake_ups)
{
    begin(two, N_TWO, 1, true);
    assert_non_null(timeline->wake_lists);
    size_t size = offsetof(struct timeline_header, wake_lists);
    memmove(made.bytes + size, made.bytes + made.header.places, made.n_places * sizeof *made.places);
    made.header.places = size;
    memcpy(made.bytes, &made.header, size);
    reopen_timeline();
    assert_non_null(timeline);
    assert_null(timeline->wake_lists);
    uint64_t n;
    assert_null(timeline_wake_ups(timeline, 0, &n));
    assert_int_equal(n, 0);
    assert_int_equal(timeline->places[1].logical, 11);
}

TEST(all_threads_have_no_more_records_than_fit)
{
    begin(two, N_TWO, 1, true);
    struct timeline_thread all[2] = {{.profile = 1, .n_records = made.size / 16}, {.profile = 2, .n_records = 1}};
    memcpy(made.bytes + made.header.threads, all, sizeof all);
    reopen_timeline();
    assert_null(timeline);
    assert_non_null(strstr(problem_text(), "outside"));
}

TEST(truncated_files_are_refused)
{
    begin(two, N_TWO, 1, true);
    for (made.size--; made.size > 0; made.size -= made.size > 7 ? 7 : 1) {
        reopen_timeline();
        assert_null(timeline);
        assert_non_null(problem_text());
        problem_clear();
    }
}

/* The rest of the file is sound. */
TEST(a_damaged_record_says_nothing)
{
    static const struct made_record damaged[] = {
        {1, 10, 5, TRACE_WORK, 3, false}, {1, 20, 5, 0, 0, false}, {1, 30, 5, TRACE_STATES, 0, false},
        {1, 25, 5, TRACE_WORK, 0, false}, {1, 40, 5, TRACE_WORK, 0, false}};
    begin(damaged, 5, 1, true);
    struct time_samples sample = time_samples_from(timeline, timeline_thread(timeline, 1), 0);
    for (uint64_t i = 0; i < 5; i++) {
        problem_clear();
        assert_true(time_samples_next(&sample));
        assert_true(sample.begin <= sample.end && sample.end <= timeline->end);
        assert_int_equal(time_sample_state(&sample, i), i < 3 ? TRACE_DROPPED : TRACE_WORK);
        assert_int_equal(problem_text() != NULL, i < 3);
    }
}
