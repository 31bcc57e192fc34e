/* CPU time that threads have used, and the cause that hpcrun names for what has no samples. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/unsampled-time.h"
#include "hpcrun/source/sample-source.h"

const char *sources_fallback_reason(void)
{
    return "perf hides it";
}

TEST(most_of_it_in_the_kernel)
{
    assert_string_equal(unsampled_time(2661000000, 2660000000),
                        "no samples of 2.661 s CPU, most of it in the kernel: perf hides it (as root, allow it by: "
                        "sysctl kernel.perf_event_paranoid=1)");
    assert_non_null(strstr(unsampled_time(1000000000, 500000000), "kernel"));
}

TEST(system_time_explains_less_than_half)
{
    assert_string_equal(unsampled_time(1454000000, 480000000),
                        "no samples of 1.454 s CPU: at the ends of threads, or in threads too short for a sample");
}

/* The first thread of a process that ran before may have no sample, but be charged with those that were lost. */
TEST(a_clock_that_was_never_read_is_not_before_its_begin)
{
    assert_int_equal(used_time(5000, 7000, 1000), 2000);
    assert_int_equal(used_time(5000, 7000, 3000), 3000);
    assert_int_equal(used_time(5000, 0, 0), 0);
    assert_int_equal(used_time(5000, 0, 1000), 1000);
}
