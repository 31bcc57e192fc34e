#include "hpcrun/span/strand-clock.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

/* A preempted thread waits for its next time slice, which is far longer than this. */
#define LONG_NS        50000u
#define CALIBRATION_NS 2000000u
#define EMPTY_STRANDS  1000
#define ANCHOR_TRIES   8

static uint64_t unit_per_tick; /* times 2^32 */
static uint64_t long_ticks;
static uint64_t reading_cost; /* ticks between two readings around nothing */
static uint64_t event_cost;   /* ticks of a short event, its reading included */

static uint64_t in_units(uint64_t ticks)
{
    return (uint64_t)(((unsigned __int128)ticks * unit_per_tick) >> 32);
}

static void read_cpu(struct strand_clock *clock, uint64_t now)
{
    clock->anchor = now;
    clock->anchor_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t ticks_in(uint64_t ns)
{
    uint64_t began = sys_clock(CLOCK_MONOTONIC), ticks = ticks_now();
    uint64_t elapsed, now;
    do {
        elapsed = sys_clock(CLOCK_MONOTONIC) - began;
        now = ticks_now();
    } while (elapsed < ns);
    return (uint64_t)((unsigned __int128)(now - ticks) * ns / elapsed);
}

/* The smallest distance of two readings: longer ones were disturbed. */
static uint64_t measure_reading(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < EMPTY_STRANDS; i++) {
        uint64_t before = ticks_now(), ticks = ticks_now() - before;
        least = ticks < least ? ticks : least;
    }
    return least;
}

void strand_clock_calibrate(void)
{
    uint64_t ticks = ticks_in(CALIBRATION_NS);
    unit_per_tick = ((uint64_t)CALIBRATION_NS << (32 + STRAND_SHIFT)) / ticks;
    long_ticks = ticks / (CALIBRATION_NS / LONG_NS);
    reading_cost = measure_reading();
}

void strand_clock_set_event_cost(uint64_t ticks)
{
    event_cost = ticks;
}

/* -------- samples -------- */

__thread volatile uint64_t strand_sampled;

static uint64_t sample_cost; /* ticks, besides those in the handler */
static bool subtracts_samples;

void strand_clock_set_sample_cost(uint64_t ticks)
{
    sample_cost = ticks;
    subtracts_samples = true;
}

/* A handler that seems long may have lost the CPU, as a strand may: it counts as the one before. */
void strand_clock_sampled(uint64_t began)
{
    static __thread uint64_t usual;
    if (!subtracts_samples)
        return;
    uint64_t ticks = ticks_now() - began;
    if (ticks <= long_ticks)
        usual = ticks;
    strand_sampled += usual + sample_cost;
}

/* -------- strands -------- */

struct reading {
    uint64_t ticks, sampled;
};

/* All samples before the reading of the counter are in `sampled`, and none of those behind it. */
static struct reading read_clock(void)
{
    struct reading now;
    do {
        now.sampled = strand_sampled;
        now.ticks = ticks_now();
    } while (now.sampled != strand_sampled);
    return now;
}

static void begin_at(struct strand_clock *clock, struct reading now, uint64_t excess)
{
    clock->begin = now.ticks;
    clock->sampled = now.sampled;
    clock->excess = excess;
}

/* Reads the CPU clock if the thread may have lost its CPU since the last strand; again if it lost it
 * meanwhile, which happens more often than elsewhere: the kernel takes the CPU at the end of a system
 * call. */
void strand_begin(struct strand_clock *clock)
{
    struct reading now = read_clock();
    uint64_t before = clock->end;
    for (int i = 0; i < ANCHOR_TRIES && now.ticks - before > long_ticks; i++) {
        before = now.ticks;
        read_cpu(clock, before);
        now = read_clock();
    }
    begin_at(clock, now, reading_cost);
}

/* The clock of a thread's CPU time, as the kernel numbers them. */
static clockid_t cpu_clock_of(int thread)
{
    return (clockid_t)(~(unsigned)thread << 3 | 6);
}

void strand_begin_in(struct strand_clock *clock, int thread)
{
    clock->anchor_cpu = sys_clock(cpu_clock_of(thread));
    begin_at(clock, (struct reading){ticks_now(), SAMPLED_UNKNOWN}, reading_cost);
    clock->anchor = clock->begin;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The CPU time of a strand that took long, with its samples. Since the anchor the thread has had the CPU
 * all the time, but for this strand: a loss elsewhere would have moved the anchor. */
static uint64_t cpu_time(struct strand_clock *clock)
{
    uint64_t before = in_units(clock->begin - clock->anchor), from = clock->anchor_cpu;
    read_cpu(clock, clock->end);
    uint64_t cpu = (clock->anchor_cpu - from) << STRAND_SHIFT;
    return less(cpu, before);
}

uint64_t strand_passed(const struct strand_clock *clock)
{
    return in_units(less(ticks_now() - clock->begin, clock->excess));
}

static uint64_t end_at(struct strand_clock *clock, struct reading now)
{
    uint64_t ticks = now.ticks - clock->begin;
    uint64_t sampled = clock->sampled == SAMPLED_UNKNOWN ? 0 : now.sampled - clock->sampled;
    uint64_t time = in_units(less(ticks, clock->excess + sampled));
    clock->end = now.ticks;
    if (ticks <= long_ticks)
        return time;
    uint64_t cpu = less(cpu_time(clock), in_units(sampled));
    return cpu < time ? cpu : time;
}

uint64_t strand_end(struct strand_clock *clock)
{
    return end_at(clock, read_clock());
}

uint64_t strand_next(struct strand_clock *clock)
{
    struct reading now = read_clock();
    uint64_t time = end_at(clock, now);
    begin_at(clock, now, event_cost);
    return time;
}
