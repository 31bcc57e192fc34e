#include "tests/unit/cmocka_suite.h"
#include "tests/unit/random_numbers.h"
#include "tests/unit/viewer-tui/made_timeline.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/record-sums.h"

static void begin(const struct made_record *records, size_t n, bool is_time)
{
    made.n_places = 4;
    for (uint32_t i = 0; i < 4; i++)
        made.places[i] = (struct timeline_place){.logical = 1 + i, .n = 8, .working = 1 + i, .waiters = i, .kind = i};
    begin_timeline(records, n, 1, is_time);
}

STEP(end)
{
    assert_null(problem_text());
    end_timeline(NULL);
}

EACH_TEST(NULL, end);

static struct record_sums sums_of(uint64_t from, uint64_t to)
{
    struct record_sums sums = {0};
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        record_sums_add(&sums, timeline, &timeline->threads[t], (struct time_range){from, to});
    return sums;
}

/* The amount of a state at a place, in 1/16 ns, and the number of samples. */
static uint64_t amount_of(const struct record_sums *sums, uint32_t place, enum trace_state state, uint64_t *n)
{
    uint64_t amount = 0;
    *n = 0;
    for (size_t i = 0; i < sums->list.n; i++)
        if (sums->list.at[i].place == place && sums->list.at[i].state == state) {
            amount += sums->list.at[i].amount;
            *n += sums->list.at[i].n;
        }
    return amount;
}

static void expect(uint64_t from, uint64_t to, uint32_t place, enum trace_state state, uint64_t amount, uint64_t n)
{
    uint64_t counted;
    struct record_sums sums = sums_of(from, to);
    assert_int_equal(amount_of(&sums, place, state, &counted), 16 * amount);
    assert_int_equal(counted, n);
    record_sums_free(&sums);
}

/* From 100 to 200: work and off CPU of one sample; from 200 to 300 another sample. */
static const struct made_record two[] = {{1, 200, 60, TRACE_WORK, 0, true},
                                         {1, 200, 40, TRACE_OFF_CPU, 1, false},
                                         {1, 300, 100, TRACE_WORK, 0, true}};

TEST(a_record_counts_for_its_part_of_the_range)
{
    begin(two, 3, true);
    expect(0, 300, 0, TRACE_WORK, 160, 2);
    expect(0, 300, 1, TRACE_OFF_CPU, 40, 0); /* of the same sample as the work */
    expect(150, 250, 0, TRACE_WORK, 30 + 50, 1);
    expect(150, 250, 1, TRACE_OFF_CPU, 20, 0);
    expect(0, 150, 0, TRACE_WORK, 30, 0);
    expect(210, 220, 0, TRACE_WORK, 10, 0); /* within one record */
    expect(200, 300, 0, TRACE_WORK, 100, 1);
    expect(100, 200, 0, TRACE_WORK, 60, 1);
    expect(0, 100, 0, TRACE_WORK, 0, 0);
    expect(300, 400, 0, TRACE_WORK, 0, 0);
    expect(250, 250, 0, TRACE_WORK, 0, 0);
    expect(250, 150, 0, TRACE_WORK, 0, 0);
}

TEST(counts_belong_to_the_piece_in_which_they_are)
{
    begin(two, 3, false);
    expect(199, 200, 0, TRACE_WORK, 60, 1);
    expect(200, 300, 0, TRACE_WORK, 100, 1);
    expect(201, 299, 0, TRACE_WORK, 0, 0);
}

TEST(pieces_add_up_to_the_whole)
{
    static struct made_record records[300];
    uint32_t time = 0;
    for (size_t i = 0; i < 300; i++) {
        time = i % 100 == 0 ? 0 : time;
        time += random_below(4) ? random_below(1000) : 0;
        records[i] = (struct made_record){
            1 + (uint32_t)i / 100, time, random_below(1500), (enum trace_state)(1 + random_below(9)), random_below(4),
            random_below(2)};
    }
    begin(records, 300, true);
    for (int run = 0; run < 200; run++) {
        uint64_t whole = 0, pieces = 0, n = 0, n_pieces = 0, ignored;
        uint64_t cuts[] = {0, random_below((uint32_t)timeline->end), 0, timeline->end};
        cuts[2] = cuts[1] + random_below((uint32_t)(timeline->end - cuts[1]) + 1);
        struct record_sums all = sums_of(0, timeline->end);
        for (size_t i = 0; i < all.list.n; i++) {
            whole += all.list.at[i].amount;
            n += all.list.at[i].n;
        }
        for (int piece = 0; piece < 3; piece++) {
            struct record_sums sums = sums_of(cuts[piece], cuts[piece + 1]);
            for (size_t i = 0; i < sums.list.n; i++) {
                pieces += sums.list.at[i].amount;
                n_pieces += sums.list.at[i].n;
            }
            record_sums_free(&sums);
        }
        assert_int_equal(pieces, whole);
        assert_int_equal(n_pieces, n);
        assert_true(amount_of(&all, 0, TRACE_WORK, &ignored) <= whole);
        record_sums_free(&all);
    }
}

TEST(sums_by_state_are_the_same)
{
    begin(two, 3, true);
    struct state_sums sums = {0};
    state_sums_add(&sums, timeline, &timeline->threads[0], (struct time_range){150, 250});
    assert_int_equal(sums.amounts[TRACE_WORK], 16 * 80);
    assert_int_equal(sums.amounts[TRACE_OFF_CPU], 16 * 20);
    assert_int_equal(sums.counts[TRACE_WORK], 1);
    assert_true(sums.squares == 2 * 800.0 * 800);
    struct record_sums by_place = sums_of(150, 250);
    assert_true(by_place.squares == sums.squares);
    record_sums_clear(&by_place);
    assert_int_equal(by_place.list.n, 0);
    record_sums_add(&by_place, timeline, &timeline->threads[0], (struct time_range){0, 300});
    assert_true(by_place.squares == 2 * 1600.0 * 1600);
    record_sums_free(&by_place);
}

static struct payments paid_by(enum trace_state of, uint32_t flags, uint32_t place)
{
    return record_payments(timeline, &(struct record_sum){.place = place, .state = of, .flags = flags, .amount = 120});
}

/* The table in lib/trace-format.h, and hpcprof's flags. */
TEST(records_pay_by_their_state_and_flags)
{
    begin(two, 3, true);
    struct payments paid = paid_by(TRACE_WORK, TRACE_WORKER, 1); /* 2 of 8 work, 1 waits for a lock */
    assert_true(paid.of[PAYS_WORK] == 120 && paid.of[PAYS_WALL] == 60 && paid.of[PAYS_IDLENESS] == 360);
    assert_true(paid.of[PAYS_INCOMPLETE] == 60 && paid.of[PAYS_LOCK_BLAME] == 120 && paid.of[PAYS_OVERHEAD] == 0);
    paid = paid_by(TRACE_WORK, 0, 1);
    assert_true(paid.of[PAYS_WORK] == 120 && paid.of[PAYS_IDLENESS] == 0 && paid.of[PAYS_INCOMPLETE] == 0);
    paid = paid_by(TRACE_OVERHEAD, TRACE_WORKER | TRACE_AS_OVERHEAD, 0);
    assert_true(paid.of[PAYS_WORK] == 0 && paid.of[PAYS_OVERHEAD] == 120 && paid.of[PAYS_IDLENESS] == 840);
    paid = paid_by(TRACE_WAITING, 0, 1);
    assert_true(paid.of[PAYS_WAITING] == 120 && paid.of[PAYS_WALL] == 0 && paid.of[PAYS_LOCK_BLAME] == 120);
    paid = paid_by(TRACE_WAITING, TRACE_AS_WAITING | TRACE_WORKER, 0);
    assert_true(paid.of[PAYS_WAITING] == 120 && paid.of[PAYS_WALL] == 120 && paid.of[PAYS_IDLENESS] == 840);
    paid = paid_by(TRACE_WORK, TRACE_IN_KERNEL, 0);
    assert_true(paid.of[PAYS_WORK] == 120 && paid.of[PAYS_KERNEL] == 120);
    paid = paid_by(TRACE_OFF_CPU, 0, 0);
    assert_true(paid.of[PAYS_WORK] == 120 && paid.of[PAYS_OFF_CPU] == 120 && paid.of[PAYS_WALL] == 0);
    paid = paid_by(TRACE_OFF_CPU, TRACE_AS_OVERHEAD, 0);
    assert_true(paid.of[PAYS_OVERHEAD] == 120 && paid.of[PAYS_WORK] == 0 && paid.of[PAYS_OFF_CPU] == 120);
    paid = paid_by(TRACE_READY, TRACE_WORKER, 1);
    assert_true(paid.of[PAYS_READY] == 120 && paid.of[PAYS_IDLENESS] == 0 && paid.of[PAYS_LOCK_BLAME] == 120);
    static const enum trace_state fates[] = {TRACE_IDLE, TRACE_NOBODY, TRACE_RUNTIME, TRACE_DROPPED};
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        paid = paid_by(fates[i], TRACE_WORKER, 1);
        for (int metric = 0; metric < RECORD_METRICS; metric++)
            assert_true(paid.of[metric] == 0);
    }
}
