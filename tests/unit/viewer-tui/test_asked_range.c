#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/threads/asked-range.h"

static void expect(const char *text, uint64_t from, uint64_t to)
{
    struct timeline timeline = {.end = 10000000000};
    struct asked_range asked;
    struct time_range range;
    assert_true(asked_range_read(text, &asked));
    assert_null(asked_range_in(&asked, &timeline, &range));
    assert_int_equal(range.from, from);
    assert_int_equal(range.to, to);
}

TEST(times_have_units)
{
    expect("1.2s:3.4s", 1200000000, 3400000000);
    expect("1200ms:3.4", 1200000000, 3400000000);
    expect("25%:50%", 2500000000, 5000000000);
    expect(":2s", 0, 2000000000);
    expect("2s:", 2000000000, 10000000000);
    expect("0:100%", 0, 10000000000);
    expect("1e-3:99s", 1000000, 10000000000);
}

TEST(phases_have_numbers)
{
    struct asked_range asked;
    assert_true(asked_range_read("phase2", &asked));
    assert_int_equal(asked.phase, 2);
    assert_true(asked_range_read("during:a:2", &asked));
    assert_string_equal(asked.during, "a:2");
    assert_true(asked_range_is_given(&asked));
}

TEST(other_texts_are_refused)
{
    static const char *const texts[] = {"",     ":",      "2s",     "a:b",    "1:2:3",  "-1s:2s", "1x:2s", "1s:101%",
                                        "inf:", "nan:1s", "phase",  "phase0", "phasex", "phase2x", "1s:2sx", "%:1s", "during:"};
    struct asked_range asked;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (asked_range_read(texts[i], &asked))
            fail_msg("'%s' is taken", texts[i]);
}

TEST(a_range_without_time_is_refused)
{
    static const char *const texts[] = {"10s:", "20s:30s", "2s:1s", "2s:2s", "30s:20s", "90%:2s"};
    struct timeline timeline = {.end = 10000000000};
    struct time_range range;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct asked_range asked;
        assert_true(asked_range_read(texts[i], &asked));
        char *cause = asked_range_in(&asked, &timeline, &range);
        assert_non_null(cause);
        assert_non_null(strstr(cause, i < 2 ? "ends at 10 s" : "its end is not after its begin"));
        free(cause);
    }
}
