/* perf's record of an event that it stops for a while. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/perf-records.h"

static unsigned throttled;

static void count_throttled(void)
{
    throttled++;
}

/* The kernel reports both the stop and its end: each stop counts once. */
TEST(stops_are_counted)
{
    static const struct perf_visitor visitor = {.throttled = count_throttled};
    struct {
        struct perf_event_header header;
        uint64_t time, id, stream;
        uint32_t pid, tid;
        uint64_t trailer_time, trailer_id;
    } record = {.header = {.type = PERF_RECORD_THROTTLE, .size = sizeof record}};
    perf_record_visit(&record.header, &visitor);
    record.header.type = PERF_RECORD_UNTHROTTLE;
    perf_record_visit(&record.header, &visitor);
    assert_int_equal(throttled, 1);
}
