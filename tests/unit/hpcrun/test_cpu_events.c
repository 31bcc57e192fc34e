/* When events of the CPUs take the place of those of threads, and what hpcrun says if they can't. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/cpu-events.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/short-turns.h"
#include "hpcrun/outside/traced-processes.h"
#include "hpcrun/process/process.h"

#define MS 1000000u

/* ---- what the reader knows ---- */

struct process process;
static unsigned cpus, wants;
static bool hides_kernel;
static struct worker_counts counts;
static struct traced traced;

unsigned perf_rings_cpus(void)
{
    return cpus;
}

bool perf_events_are_of_system(void)
{
    return false;
}

bool perf_events_see_kernel(void)
{
    return !hides_kernel;
}

struct worker_counts *image_workers_counts(void)
{
    return &counts;
}

unsigned record_queue_wants_cpus(const struct record_queue *queue)
{
    (void)queue;
    return wants;
}

void traced_visit(void (*visit)(struct traced *process))
{
    visit(&traced);
}

/* At 1000 samples per second. Reasons stay, and what was tried stays tried: the order of the tests matters. */
static void begin(enum event_kind kind, unsigned on_cpus, unsigned reasons)
{
    process.config.events[0] = (struct event){.kind = kind, .period = MS};
    cpus = on_cpus;
    wants = reasons;
    traced = (struct traced){.queue = (struct record_queue *)&traced};
    counts = (struct worker_counts){0};
}

/* After the time between two looks. */
static bool are_wanted(void)
{
    static uint64_t now;
    now += 250 * MS;
    return cpu_events_are_wanted(now) || cpu_events_are_wanted(now + 249 * MS);
}

static const char *words(void)
{
    static char buffer[512];
    struct text line = TEXT(buffer);
    cpu_events_add(&line);
    return buffer;
}

/* ---- turns ---- */

TEST(turns_of_less_than_a_tenth_of_a_millisecond)
{
    struct scheduled last = {.cpu = 7 * MS, .timeslices = 5}, now = {.cpu = 27 * MS, .timeslices = 206};
    assert_true(turns_are_short(&last, &now));
    assert_int_equal(last.cpu, now.cpu);
    assert_int_equal(last.timeslices, now.timeslices);
    now = (struct scheduled){.cpu = 47 * MS, .timeslices = 406}; /* exactly a tenth each */
    assert_false(turns_are_short(&last, &now));
}

/* What a thread did before does not hide what it does now, nor do few turns tell. */
TEST(a_look_takes_20_ms_of_cpu_time)
{
    struct scheduled last = {.cpu = 1000 * MS, .timeslices = 10}, now = {.cpu = 1019 * MS, .timeslices = 10000};
    assert_false(turns_are_short(&last, &now));
    assert_int_equal(last.timeslices, 10);
    now.cpu += MS;
    assert_true(turns_are_short(&last, &now));
}

/* ---- the choice ---- */

TEST(no_reason)
{
    begin(EVENT_CPUTIME, 2, 0);
    counts.without_sample = MANY_UNSEEN - 1;
    assert_false(are_wanted());
    assert_string_equal(words(), "");
}

/* Its frames can't be proven where it waits. */
TEST(an_interpreter_that_waits_often)
{
    begin(EVENT_CPUTIME, 2, SHORT_TURNS);
    traced.wish = QUEUE_WISHES_AGENT;
    assert_false(are_wanted());
    assert_string_equal(words(), "");
}

TEST(realtime_needs_switches_of_threads)
{
    begin(EVENT_REALTIME, 2, SHORT_TURNS);
    assert_false(are_wanted());
    assert_string_equal(words(), "; threads wait so often that perf slows them down, and that the calls they wait in have "
                                 "too much CPU time: CPUTIME, measured by root, does better");
}

TEST(many_cpus_at_a_high_rate)
{
    begin(EVENT_CPUTIME, 21, SHORT_TURNS);
    assert_false(are_wanted());
    assert_non_null(strstr(words(), ": a lower rate, measured by root, does better"));
    cpus = 20;
    assert_true(are_wanted());
    assert_false(are_wanted()); /* once */
}

TEST(what_is_said)
{
    cpu_events_note(false);
    hides_kernel = true; /* the calls have no samples then */
    assert_string_equal(words(), "; threads wait so often that perf slows them down: root's hpcrun does better");
    cpu_events_note(true);
    assert_string_equal(words(), "; samples by the CPUs' clocks, since threads wait often or end soon");
}
