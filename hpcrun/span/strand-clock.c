#include "hpcrun/span/strand-clock.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

/* A preempted thread waits for its next time slice, which is far longer than this. */
#define LONG_NS        50000u
#define CALIBRATION_NS 2000000u
#define EMPTY_STRANDS  1000
#define ANCHOR_TRIES   8
#define MOMENT_TRIES   8

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

/* Both clocks at the same time. */
struct moment {
    uint64_t ns, ticks;
};

/* The closest of some readings: the kernel likes to take the CPU at the end of a system call, and
 * then the clocks are read a time slice apart. */
static struct moment moment_now(void)
{
    struct moment closest = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < MOMENT_TRIES; i++) {
        uint64_t before = ticks_now(), ns = sys_clock(CLOCK_MONOTONIC);
        uint64_t distance = ticks_now() - before;
        if (distance < least) {
            least = distance;
            closest = (struct moment){ns, before + distance / 2};
        }
    }
    return closest;
}

static uint64_t ticks_in(uint64_t ns)
{
    struct moment began = moment_now(), now;
    do {
        now = moment_now();
    } while (now.ns - began.ns < ns);
    return (uint64_t)((unsigned __int128)(now.ticks - began.ticks) * ns / (now.ns - began.ns));
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

/* Reads the CPU clock if the thread may have lost its CPU since the last strand; again if it lost it
 * meanwhile, which happens more often than elsewhere: the kernel takes the CPU at the end of a system
 * call. */
void strand_begin(struct strand_clock *clock)
{
    uint64_t now = ticks_now(), before = clock->end;
    for (int i = 0; i < ANCHOR_TRIES && now - before > long_ticks; i++) {
        before = now;
        read_cpu(clock, now);
        now = ticks_now();
    }
    clock->begin = now;
    clock->excess = reading_cost;
}

/* The clock of a thread's CPU time, as the kernel numbers them. */
static clockid_t cpu_clock_of(int thread)
{
    return (clockid_t)(~(unsigned)thread << 3 | 6);
}

void strand_begin_in(struct strand_clock *clock, int thread)
{
    clock->anchor_cpu = sys_clock(cpu_clock_of(thread));
    clock->anchor = clock->begin = ticks_now();
    clock->excess = reading_cost;
}

/* The CPU time of a strand that took long. Since the anchor the thread has had the CPU all the time,
 * but for this strand: a loss elsewhere would have moved the anchor. */
static uint64_t cpu_time(struct strand_clock *clock, uint64_t seeming)
{
    uint64_t before = in_units(clock->begin - clock->anchor), from = clock->anchor_cpu;
    read_cpu(clock, clock->end);
    uint64_t cpu = (clock->anchor_cpu - from) << STRAND_SHIFT;
    cpu = cpu > before ? cpu - before : 0;
    return cpu < seeming ? cpu : seeming;
}

/* Time of the current strand up to `end`, if the thread has had its CPU. */
static uint64_t seeming_time(const struct strand_clock *clock, uint64_t end)
{
    uint64_t ticks = end - clock->begin;
    return in_units(ticks > clock->excess ? ticks - clock->excess : 0);
}

uint64_t strand_passed(const struct strand_clock *clock)
{
    return seeming_time(clock, ticks_now());
}

uint64_t strand_end(struct strand_clock *clock)
{
    clock->end = ticks_now();
    uint64_t time = seeming_time(clock, clock->end);
    return clock->end - clock->begin > long_ticks ? cpu_time(clock, time) : time;
}

uint64_t strand_next(struct strand_clock *clock)
{
    uint64_t time = strand_end(clock);
    clock->begin = clock->end;
    clock->excess = event_cost;
    return time;
}
