/* Where the phases of a run begin: none in random runs whose mix stays the same, and the planted ones in others. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/random_numbers.h"
#include "viewer-tui/base/change-points.h"

#include <math.h>

#define BINS  500
#define KINDS 6

static double counts[BINS][KINDS];
static size_t n_bins = BINS; /* of a run: BINS at most */

static double uniform(void)
{
    return random_below(1u << 30) / (double)(1u << 30);
}

/* Poisson (Knuth), or its normal approximation. */
static double poisson(double mean)
{
    double n = 0;
    if (mean > 30) {
        double normal = sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
        return fmax(round(mean + sqrt(mean) * normal), 0);
    }
    for (double product = 1 - uniform(); product > exp(-mean); n++)
        product *= 1 - uniform();
    return n;
}

/* A mix: means of the kinds, of which some are rare. */
static void draw_mix(double mix[KINDS], double most)
{
    for (int k = 0; k < KINDS; k++)
        mix[k] = most * pow(uniform(), 3);
}

static void fill(size_t from, size_t to, const double mix[KINDS])
{
    for (size_t i = from; i < to; i++)
        for (int k = 0; k < KINDS; k++)
            counts[i][k] = poisson(mix[k]);
}

/* Two mixes by turns, of random or equal lengths around `length` bins, which need not be whole. */
static void fill_by_turns(size_t from, size_t to, double length, bool is_random)
{
    double mixes[2][KINDS], left = 0;
    int turn = 0;
    draw_mix(mixes[0], 40);
    draw_mix(mixes[1], 40);
    for (size_t i = from; i < to; i++) {
        double means[KINDS] = {0};
        for (double todo = 1; todo > 0;) {
            if (left <= 0) {
                left = is_random ? -length * log(1 - uniform()) : length;
                turn = !turn;
            }
            double step = fmin(left, todo);
            for (int k = 0; k < KINDS; k++)
                means[k] += step * mixes[turn][k];
            left -= step;
            todo -= step;
        }
        for (int k = 0; k < KINDS; k++)
            counts[i][k] = poisson(means[k]);
    }
}

/* A rare kind in few bins: a garbage collection. */
static void fill_with_bursts(void)
{
    double mix[KINDS];
    draw_mix(mix, 30);
    fill(0, n_bins, mix);
    for (size_t i = 0; i < n_bins; i++)
        if (uniform() < 0.05) {
            counts[i][0] = poisson(10);
            counts[i][1] = poisson(mix[1] / 2);
        }
}

/* Samples at regular times hardly differ in number. */
static void fill_regularly(void)
{
    double mix[KINDS];
    draw_mix(mix, 40);
    for (size_t i = 0; i < n_bins; i++)
        for (int k = 0; k < KINDS; k++)
            counts[i][k] = floor(mix[k] + uniform());
}

static size_t find(size_t ends[MOST_PHASES])
{
    return change_points(&counts[0][0], n_bins, KINDS, ends);
}

/* Of `runs` stationary runs of a kind, at most 1 % may have more than one phase. */
static void expect_one_phase_of(const char *what, size_t bins, int runs, void (*make)(void))
{
    size_t ends[MOST_PHASES];
    int wrong = 0;
    n_bins = bins;
    random_state = 7;
    for (int run = 0; run < runs; run++) {
        make();
        wrong += find(ends) != 1;
    }
    if (wrong * 100 > runs)
        fail_msg("%s: %d of %d stationary runs of %zu bins have phases", what, wrong, runs, bins);
    n_bins = BINS;
}

static void expect_one_phase(const char *what, int runs, void (*make)(void))
{
    static const size_t lengths[] = {50, 90, 140, BINS};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        expect_one_phase_of(what, lengths[i], runs, make);
}

static void make_one_mix(void)
{
    double mix[KINDS];
    draw_mix(mix, 60);
    fill(0, n_bins, mix);
}

static void make_few_samples(void)
{
    double mix[KINDS];
    draw_mix(mix, 2);
    fill(0, n_bins, mix);
}

static void make_short_turns(void)
{
    fill_by_turns(0, n_bins, 0.2 + 2 * uniform(), false);
}

static void make_long_turns(void)
{
    fill_by_turns(0, n_bins, 3 + 7 * uniform(), false);
}

static void make_random_turns(void)
{
    fill_by_turns(0, n_bins, 0.3 + 1.5 * uniform(), true); /* the longest is some 13 times as long */
}

#ifndef RUNS
#define RUNS 100
#endif

TEST(stationary_runs_have_one_phase)
{
    expect_one_phase("one mix", RUNS, make_one_mix);
    expect_one_phase("few samples", RUNS, make_few_samples);
    expect_one_phase("regular samples", RUNS, fill_regularly);
    expect_one_phase("bursts", RUNS, fill_with_bursts);
}

TEST(many_turns_are_stationary)
{
    expect_one_phase("short turns", RUNS, make_short_turns);
    /* A short run has only some of them, which are phases: a_few_changes_of_a_short_run_are_no_noise. */
    expect_one_phase_of("long turns", BINS, RUNS, make_long_turns);
    expect_one_phase("random turns", RUNS, make_random_turns);
}

TEST(planted_changes_are_found_where_they_are)
{
    random_state = 3;
    for (int run = 0; run < RUNS; run++) {
        size_t planted[MOST_PHASES], n = 2 + random_below(7), found[MOST_PHASES], at = 0;
        double mix[KINDS];
        draw_mix(mix, 20);
        for (size_t i = 0; i < n; i++) {
            mix[i % KINDS] += 40; /* another kind, and more of it */
            mix[(i + KINDS - 1) % KINDS] /= 4;
            planted[i] = i + 1 == n ? BINS : at + 25 + random_below(30);
            fill(at, planted[i], mix);
            at = planted[i];
        }
        assert_int_equal(find(found), n);
        for (size_t i = 0; i < n; i++)
            assert_true(labs((long)found[i] - (long)planted[i]) <= 1);
    }
}

/* Stretches of a kind each, whose ends are within bins: so are those of a short run with one thread. */
static void fill_alternately(size_t bins, int turns, double samples)
{
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < bins; i++)
        for (int part = 0; part < 8; part++) {
            int turn = (int)(((double)i + (part + 0.5) / 8) * turns / (double)bins);
            counts[i][turn % 2] += samples / 8 * (0.8 + 0.4 * uniform());
        }
}

TEST(a_few_changes_of_a_short_run_are_no_noise)
{
    size_t ends[MOST_PHASES];
    random_state = 11;
    for (n_bins = 45; n_bins <= 150; n_bins++)
        for (int turns = 2; turns <= 4; turns++) {
            fill_alternately(n_bins, turns, 4);
            assert_int_equal(find(ends), turns);
            for (int i = 0; i + 1 < turns; i++)
                assert_true(fabs((double)ends[i] - (double)n_bins * (i + 1) / turns) <= 1);
        }
    n_bins = BINS;
}

/* A phase of one mix, then one of turns. */
static void expect_turns(double least, double more)
{
    random_state = 5;
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        size_t begin = 60 + random_below(200), found[MOST_PHASES];
        double mix[KINDS] = {0, 0, 0, 0, 0, 45};
        fill(0, begin, mix);
        fill_by_turns(begin, BINS, least + more * uniform(), false);
        size_t n = find(found);
        wrong += n != 2 || labs((long)found[0] - (long)begin) > 0;
    }
    if (wrong * 20 > RUNS) /* some mixes of the turns are near to the one before them */
        fail_msg("%d of %d are wrong", wrong, RUNS);
}

TEST(a_phase_of_short_turns_begins_where_it_does)
{
    expect_turns(0.3, 1.5);
}

/* Bins are joined until the turns are in one, but the phase does not begin with such a bin. */
TEST(a_phase_of_long_turns_begins_where_it_does)
{
    expect_turns(20, 5);
}

TEST(few_bins_are_one_phase)
{
    size_t ends[MOST_PHASES];
    double jump[2] = {0, 1000};
    assert_int_equal(change_points(jump, 1, 1, ends), 1);
    assert_int_equal(ends[0], 1);
    assert_int_equal(change_points(jump, 2, 1, ends), 1);
    assert_int_equal(ends[0], 2);
}

TEST(nothing_is_one_phase)
{
    size_t ends[MOST_PHASES];
    memset(counts, 0, sizeof counts);
    assert_int_equal(find(ends), 1);
    assert_int_equal(ends[0], BINS);
}
