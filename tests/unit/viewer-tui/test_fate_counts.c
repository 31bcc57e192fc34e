/* Counts of samples in run.json: they are added up, and numbers that cannot be counts are none. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/db/fates.h"

static uint64_t sum_of(const char *one, const char *two)
{
    struct fates fates;
    json_t *run =
        json_pack("{s:[{s:[{s:[{s:s, s:{s:{s:o}}}]}, {s:[{s:s, s:{s:{s:o}}}]}]}]}", "processes",
                  "threads", "events", "event", "CPUTIME", "fates", "fired", "count",
                  json_loads(one, JSON_DECODE_ANY, NULL), "events", "event", "CPUTIME", "fates",
                  "fired", "count", json_loads(two, JSON_DECODE_ANY, NULL));
    assert_non_null(run);
    fates_read(&fates, run);
    assert_int_equal(fates.events.n, 1);
    uint64_t sum = fates.events.at[0].fates.at[0].count;
    fates_free(&fates);
    json_decref(run);
    return sum;
}

TEST(counts_are_added)
{
    assert_int_equal(sum_of("1503", "500"), 2003);
}

TEST(what_cannot_be_a_count_is_none)
{
    static const char *const numbers[] = {"-1", "-500", "1e300", "-1e300", "\"text\"", "null"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(sum_of(numbers[i], "500"), 500);
}
