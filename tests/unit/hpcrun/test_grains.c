/* Which activations are grains, what they contribute, and what trials say of the cost of measuring. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/span/grains.h"
#include "hpcrun/span/strand-clock.h"
#include "tests/unit/hpcrun/simulated_clock.h"
#include "tests/unit/random_numbers.h"

#define NS(x) ((uint64_t)(x) << STRAND_SHIFT)

enum { PARENT = 3, CODE = 0x401000, DEPTH = 5 };

static struct grain_classes *classes;

static int set_up(void **state)
{
    classes = calloc(1, sizeof *classes);
    strand_error = NS(20);
    return classes ? 0 : -1;
}

STEP(tear_down)
{
    free(classes);
}

static struct grain_class *class_at(uint32_t depth)
{
    return grain_class_of(classes, PARENT, CODE, depth);
}

/* An activation of `work`, a tenth of which and 2 us more are its span. */
static struct grain_lengths activation(uint64_t work, uint64_t strands)
{
    uint64_t span = work / 10 + NS(2000);
    return (struct grain_lengths){
        .work = work,
        .strands = strands,
        .spawns = 10,
        .path = {[PLAIN] = {.length = span}, [BURDENED] = {.length = span + NS(5000)}}};
}

static void observe(struct grain_class *class, uint64_t work, int times)
{
    struct grain_lengths lengths = activation(work, 1);
    for (int i = 0; i < times; i++)
        grain_observed(classes, class, &lengths, false, false);
}

static int count_grains(const struct grain_class *class, int of)
{
    int grains = 0;
    for (int i = 0; i < of; i++)
        grains += grain_choose(classes, class) == GRAIN_YES;
    return grains;
}

TEST(classes_differ_by_parent_code_and_depth)
{
    struct grain_class *class = class_at(DEPTH);
    assert_ptr_equal(class_at(DEPTH), class);
    assert_ptr_not_equal(class_at(DEPTH + 1), class);
    assert_ptr_not_equal(grain_class_of(classes, PARENT + 1, CODE, DEPTH), class);
    assert_ptr_not_equal(grain_class_of(classes, PARENT, CODE + 1, DEPTH), class);
    assert_ptr_not_equal(grain_class_of(classes, PARENT, CODE ^ 16, DEPTH ^ 16), class);
}

TEST(rare_classes_are_forgotten)
{
    observe(class_at(DEPTH), NS(10000), 1000);
    for (uint32_t depth = 100; depth < 10000; depth++) {
        observe(class_at(depth), NS(10000), 1);
        if (depth % 1000 == 0)
            observe(class_at(DEPTH), NS(10000), 1);
    }
    assert_int_equal(class_at(DEPTH)->count, 1009);
    assert_int_equal(class_at(100)->count, 0);
}

/* The classes of a phase become known, whichever places they have in a table that an earlier phase filled. */
TEST(phases_do_not_depend_on_earlier_ones)
{
    for (uint32_t depth = 0; depth < 10000; depth++)
        observe(class_at(depth), NS(10000), 1000);
    for (int round = 0; round < 1000; round++)
        for (uint32_t depth = 0; depth < 30; depth++)
            observe(grain_class_of(classes, PARENT + 1, CODE, depth), NS(10000), 1);
    for (uint32_t depth = 0; depth < 30; depth++)
        assert_true(grain_class_of(classes, PARENT + 1, CODE, depth)->count > 500);
}

TEST(the_first_ones_are_observed_and_some_later)
{
    struct grain_class *class = class_at(DEPTH);
    observe(class, NS(10000), OBSERVED_FIRST - 1);
    assert_int_equal(count_grains(class, 1000), 0);
    observe(class, NS(10000), 1);
    assert_in_range(count_grains(class, 16000), 14700, 15300); /* 15000, within 10 sigma */
}

TEST(large_and_mixed_ones_and_leaves_are_no_grains)
{
    observe(class_at(1), NS(GRAIN_NS) + 1, 100);
    assert_int_equal(count_grains(class_at(1), 100), 0);
    observe(class_at(2), NS(GRAIN_NS / 2), 100); /* few have half of the work */
    observe(class_at(2), NS(20 * GRAIN_NS), 2);
    assert_true(class_at(2)->work < class_at(2)->count * NS(GRAIN_NS));
    assert_int_equal(count_grains(class_at(2), 100), 0);
    observe(class_at(3), NS(1000), 100);
    struct grain_lengths lengths = activation(NS(1000), 1);
    grain_observed(classes, class_at(3), &lengths, true, false);
    assert_int_equal(count_grains(class_at(3), 100), 0);
    lengths.spawns = 0;
    for (int i = 0; i < 100; i++)
        grain_observed(classes, class_at(4), &lengths, false, false);
    assert_int_equal(count_grains(class_at(4), 100), 0);
}

TEST(a_grain_has_the_span_of_its_class)
{
    struct grain_class *class = class_at(DEPTH);
    for (int i = 0; i < 1000; i++)
        observe(class, NS(5000 + random_below(20000)), 1);
    for (uint64_t us = 5; us < 25; us += 5) {
        struct grain_lengths lengths = grain_lengths_of(classes, class, NS(us * 1000), false);
        assert_int_equal(lengths.work, NS(us * 1000));
        assert_in_range(lengths.path[PLAIN].length, NS(us * 100 + 1999), NS(us * 100 + 2001));
        assert_in_range(lengths.path[BURDENED].length, NS(us * 100 + 6999), NS(us * 100 + 7001));
    }
    assert_true(grain_lengths_of(classes, class, NS(100), false).path[PLAIN].length <= NS(100));
    /* Two halves of one have what is proportional to their work. */
    struct grain_lengths half = grain_lengths_of(classes, class, NS(7500), true);
    assert_in_range(half.path[PLAIN].length, NS(1700), NS(1800));
    assert_in_range(half.spawns, 4, 6);
}

/* Measuring adds 50 ns to each strand; the class has strands of 100 ns. */
TEST(trials_find_what_measuring_adds)
{
    struct grain_class *class = class_at(DEPTH);
    assert_true(grain_excess(&(struct grain_trials){0}).mean == (double)strand_error);
    for (int i = 0; i < 20000; i++) {
        uint64_t strands = 20 + random_below(60), work = NS(strands * 100);
        enum grain_choice choice = grain_choose(classes, class);
        if (choice == GRAIN_YES) {
            grain_ended(classes, class, work + NS(50));
            continue;
        }
        struct grain_lengths lengths = activation(work + NS(50) * strands, strands);
        grain_observed(classes, class, &lengths, false, choice == GRAIN_TRIAL);
    }
    struct grain_trials trials = {0};
    grain_trials_add(&trials, classes);
    struct strand_excess excess = grain_excess(&trials);
    assert_in_range(excess.mean, NS(45), NS(55));
    assert_in_range(excess.error, NS(20), NS(30));
}

EACH_TEST(set_up, tear_down);
