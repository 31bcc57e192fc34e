/* How the size of copied stacks follows what unwinding asks for. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/copy-size.h"

#include <limits.h>

static struct copy_size size;

static int begin(void **state)
{
    copy_size_begin(&size, 1 << 20, 1 << 20);
    return 0;
}

EACH_TEST(begin, NULL);

/* `samples` asked for the size with this index. Returns the size that follows, KB. */
static unsigned ask(uint64_t samples, unsigned index)
{
    struct copy_demand news = {0};
    news.asked[index] = samples;
    copy_size_fit(&size, &news);
    return COPY_SIZE(size.index) >> 10;
}

static unsigned lose(uint64_t samples, uint64_t lost)
{
    struct copy_demand news = {.asked = {samples}, .lost = lost};
    copy_size_fit(&size, &news);
    return COPY_SIZE(size.index) >> 10;
}

TEST(sizes)
{
    static const unsigned kilobytes[COPY_SIZES] = {4, 8, 16, 32, 60};
    for (unsigned i = 0; i < COPY_SIZES; i++) {
        assert_int_equal(COPY_SIZE(i), kilobytes[i] << 10);
        assert_int_equal(copy_size_for(COPY_SIZE(i)), i);
        assert_int_equal(copy_size_for(COPY_SIZE(i) + 1), i + 1);
    }
    assert_int_equal(copy_size_for(0), 0);
    assert_int_equal(copy_size_for(UINT64_MAX), COPY_SIZES);
}

TEST(begins_with_what_there_is_room_for)
{
    static const struct {
        uint64_t first, most;
        unsigned index, most_index;
    } cases[] = {{1 << 20, 1 << 20, 4, 4}, {60 << 10, (60 << 10) - 1, 3, 3}, {9000, 1 << 20, 1, 4},
                 {5000, 16 << 10, 0, 2},   {0, 0, 0, 0},                     {1 << 20, 8 << 10, 1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_size_begin(&size, cases[i].first, cases[i].most);
        assert_int_equal(size.index, cases[i].index);
        assert_int_equal(size.most, cases[i].most_index);
    }
}

TEST(shrinks_to_what_is_asked_for)
{
    assert_int_equal(ask(499, 1), 60);
    assert_int_equal(ask(1, 1), 8);
}

/* One of 1000 samples may want more: not one of 500. */
TEST(shrinks_for_all_but_rare_samples)
{
    assert_int_equal(ask(1, 3), 60);
    assert_int_equal(ask(499, 0), 32);
    begin(NULL);
    assert_int_equal(ask(1, 3), 60);
    assert_int_equal(ask(1000, 0), 4);
}

TEST(grows_by_one_size)
{
    ask(500, 0);
    assert_int_equal(ask(1, 1), 4); /* a single one is no reason */
    assert_int_equal(ask(1, 1), 8);
    assert_int_equal(ask(2, 2), 16);
    assert_int_equal(ask(5, 3), 32);
    assert_int_equal(ask(5, 4), 60);
    assert_int_equal(ask(5000, 5), 60); /* there is no larger one */
}

/* Depths that alternate must not open the events again and again. */
TEST(takes_longer_to_shrink_after_each_growth)
{
    unsigned changes = 0, before = 60;
    for (unsigned i = 0; i < 1000; i++)
        for (unsigned index = 0; index < 2; index++) {
            unsigned now = ask(500, index);
            changes += now != before;
            before = now;
        }
    assert_in_range(changes, 2, 30);
}

TEST(overload_shrinks_it_for_good)
{
    assert_int_equal(lose(100, 2), 60);
    assert_int_equal(lose(0, 1), 32);
    assert_int_equal(ask(100, 4), 32);
    assert_int_equal(lose(10, 90), 16);
    assert_int_equal(lose(10, 90), 8);
    assert_int_equal(lose(10, 90), 4);
    assert_int_equal(ask(100, 1), 4);
}

/* Samples that need a 20th of a CPU where there is a 16th of one, a 32nd, a 150th, and nearly none. Then 40 threads
 * that have a 100th of a CPU each, 1000, which have all four CPUs, and 20. */
TEST(fewer_samples_at_first_for_who_gets_little_of_a_cpu)
{
    static const struct {
        unsigned parts, threads, cpus, slowdown;
    } cases[] = {{16, 1000, 1, 0}, {20, 1000, 1, 0}, {32, 1000, 1, 1}, {150, 1000, 1, 3},
                 {100000, UINT_MAX, 1, MOST_SLOWDOWN}, {100, 40, 4, 1},  {100, 1000, 4, 5}, {100, 20, 4, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        bool is_slower = copy_size_slow_down(&size, 50000000, cases[i].parts, cases[i].threads, cases[i].cpus);
        assert_int_equal(is_slower, cases[i].slowdown > 0);
        assert_int_equal(size.slowdown, cases[i].slowdown);
    }
}

TEST(room_at_first_for_who_waits_for_a_cpu)
{
    assert_int_equal(copy_size_first_time(0, 0, 0), 30000000);
    assert_int_equal(copy_size_first_time(100, 0, 5), 40000000);
    assert_int_equal(copy_size_first_time(0, 35000000, 5), 30000000);
    assert_int_equal(copy_size_first_time(100, 2800000000, 8), 1410000000);
}

/* Below the smallest size, each overload doubles the time between samples. It stays, as the size does. */
TEST(overload_of_the_smallest_copies_slows_samples_down)
{
    const struct copy_demand overload = {.asked = {10}, .lost = 90}, small = {.asked = {1000}, .lost = 20};
    copy_size_begin(&size, 8 << 10, 8 << 10);
    assert_true(copy_size_fit(&size, &overload));
    assert_int_equal(size.slowdown, 0);
    for (unsigned i = 1; i <= MOST_SLOWDOWN; i++) {
        assert_true(copy_size_fit(&size, &overload));
        assert_int_equal(size.slowdown, i);
        assert_int_equal(size.index, 0);
    }
    assert_false(copy_size_fit(&size, &overload));
    copy_size_begin(&size, 4 << 10, 8 << 10);
    copy_size_fit(&size, &overload);
    assert_false(copy_size_fit(&size, &small));
    assert_int_equal(size.slowdown, 1);
}
