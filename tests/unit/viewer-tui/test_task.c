/* Progress of passes: what the listener gets, and how stopping reaches the pass. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/task.h"

static unsigned n_told;
static const char *last_what;
static int last_percent;
static bool goes_on;

static bool listen(const char *what, int percent)
{
    n_told++;
    last_what = what;
    last_percent = percent;
    return goes_on;
}

static int setup(void **state)
{
    n_told = 0;
    goes_on = true;
    progress_listen(listen, PROGRESS_PERIOD);
    return 0;
}

static int teardown(void **state)
{
    progress_listen(NULL, PROGRESS_PERIOD);
    return 0;
}

/* Reports one step until the listener was called, or wants to stop. */
static void stay_until_told(uint64_t done)
{
    unsigned before = n_told;
    while (progress_at(done) && n_told == before)
        ;
}

TEST_WITH(setup, teardown, test_long_passes_are_told_of)
{
    progress_begin("counting", 200);
    stay_until_told(50);
    assert_string_equal(last_what, "counting");
    assert_int_equal(last_percent, 25);
    stay_until_told(150);
    assert_int_equal(last_percent, 75);
    stay_until_told(201);
    assert_int_equal(last_percent, 100);
    assert_int_equal(progress_end(), DONE);
}

TEST_WITH(setup, teardown, test_unknown_end)
{
    progress_begin("counting", 0);
    stay_until_told(50);
    assert_int_equal(last_percent, -1);
    assert_int_equal(progress_end(), DONE);
}

TEST_WITH(setup, teardown, test_stopping)
{
    goes_on = false;
    progress_begin("counting", 10);
    stay_until_told(1);
    assert_false(progress_at(2));
    assert_false(progress_at(3));
    assert_int_equal(n_told, 1); /* who stops is left alone */
    assert_int_equal(progress_end(), STOPPED);
    progress_begin("again", 10);
    assert_true(progress_at(0));
    assert_int_equal(progress_end(), DONE);
}

TEST_WITH(setup, teardown, test_inner_passes_are_parts)
{
    progress_begin("outer", 4);
    progress_at(3);
    progress_begin("inner", 1000);
    stay_until_told(10);
    assert_string_equal(last_what, "outer");
    assert_int_equal(last_percent, 75);
    goes_on = false;
    stay_until_told(11);
    assert_int_equal(progress_end(), STOPPED);
    assert_false(progress_at(3));
    assert_int_equal(progress_end(), STOPPED);
}

TEST_WITH(setup, teardown, test_the_period)
{
    const unsigned MANY = 10000;
    progress_listen(listen, 1e9);
    progress_begin("counting", 10);
    for (unsigned i = 0; i < MANY; i++)
        progress_at(1);
    assert_int_equal(n_told, 0);
    progress_end();
    progress_listen(listen, 0);
    progress_begin("counting", 10);
    for (unsigned i = 0; i < MANY; i++)
        progress_at(1);
    assert_in_range(n_told, 1, MANY / 2);
    progress_end();
}

TEST_WITH(setup, teardown, test_nobody_listens)
{
    progress_listen(NULL, PROGRESS_PERIOD);
    progress_begin("counting", 10);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(progress_at(i));
    assert_int_equal(progress_end(), DONE);
    assert_int_equal(n_told, 0);
}
