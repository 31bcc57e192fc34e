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

static void counts_are_added(void **state)
{
    (void)state;
    assert_int_equal(sum_of("1503", "500"), 2003);
}

static void what_cannot_be_a_count_is_none(void **state)
{
    (void)state;
    static const char *const numbers[] = {"-1", "-500", "1e300", "-1e300", "\"text\"", "null"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(sum_of(numbers[i], "500"), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_added),
        cmocka_unit_test(what_cannot_be_a_count_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
