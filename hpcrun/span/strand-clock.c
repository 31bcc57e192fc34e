#include "hpcrun/span/strand-clock.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/moment.h"

/* A preempted thread waits for its next time slice, which is far longer than this. */
#define LONG_NS        50000u
#define CALIBRATION_NS 2000000u
#define ANCHOR_TRIES   8

static uint64_t unit_per_tick; /* times 2^32 */
static uint64_t long_ticks;
static int64_t excess;        /* ticks that an event adds to a strand, on average */
static uint64_t uncertainty;  /* of a strand, in the unit */

/* Pauses of the calling thread, in the unit; only the thread itself knows them. */
static __thread uint64_t paused;
#define NOT_KNOWN UINT64_MAX

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
    struct moment began = moment_now(0), now;
    do {
        now = moment_now(0);
    } while (now.wall - began.wall < ns);
    return (uint64_t)((unsigned __int128)(now.ticks - began.ticks) * ns / (now.wall - began.wall));
}

/* ---- what an event adds to a strand ---- */

enum {
    KINDS_OF_STRANDS = 4,
    STRANDS = 64, /* of one kind, one after the other */
    REPEATS = 64, /* the least counts: others were disturbed */
    CHAIN = 40,   /* multiplications, each of which needs the one before */
    WORDS = 64    /* of memory */
};

static volatile uint64_t carried = 1;

static void empty_strand(void)
{
}

static uint64_t multiply(uint64_t x)
{
    for (int i = 0; i < CHAIN; i++) {
        x *= UINT64_C(0x9e3779b97f4a7c15);
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

/* Each strand needs the result of the one before. */
static void dependent_strand(void)
{
    carried = multiply(carried);
}

static void independent_strand(void)
{
    carried = multiply(1);
}

static void memory_strand(void)
{
    static volatile uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i]++;
}

/* A runtime calls its agent, and that calls hpcrun. */
struct event_calls {
    void (*volatile agent)(struct event_calls *calls);
    void (*volatile observer)(struct event_calls *calls);
    struct strand_clock clock;
    uint64_t ticks;
};

static void observe(struct event_calls *calls)
{
    calls->clock.end = ticks_now();
    calls->ticks += calls->clock.end - calls->clock.begin;
    strand_begin(&calls->clock);
}

static void call_observer(struct event_calls *calls)
{
    calls->observer(calls);
}

/* Ticks that strands take without events, and between events as the clock says. */
static int64_t without_events(void (*volatile strand)(void))
{
    uint64_t begin = ticks_now();
    for (int i = 0; i < STRANDS; i++)
        strand();
    return (int64_t)(ticks_now() - begin);
}

static int64_t between_events(void (*volatile strand)(void))
{
    struct event_calls calls = {.agent = call_observer, .observer = observe};
    strand_begin(&calls.clock);
    for (int i = 0; i < STRANDS; i++) {
        strand();
        calls.agent(&calls);
    }
    return (int64_t)calls.ticks;
}

static void take_least(int64_t *least, int64_t ticks)
{
    *least = ticks < *least ? ticks : *least;
}

/* What others on the machine do changes from one moment to the next: so all are repeated in turn. */
static void measure_excess(void)
{
    static void (*const kinds[KINDS_OF_STRANDS])(void) = {empty_strand, dependent_strand,
                                                          independent_strand, memory_strand};
    int64_t without[KINDS_OF_STRANDS], between[KINDS_OF_STRANDS];
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int i = 0; i < KINDS_OF_STRANDS; i++)
        without[i] = between[i] = INT64_MAX;
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int i = 0; i < KINDS_OF_STRANDS; i++) {
            take_least(&without[i], without_events(kinds[i]));
            take_least(&between[i], between_events(kinds[i]));
        }
    for (int i = 0; i < KINDS_OF_STRANDS; i++) {
        int64_t added = between[i] - without[i];
        least = added < least ? added : least;
        most = added > most ? added : most;
    }
    excess = (least + most) / 2 / STRANDS;
    uncertainty = in_units((uint64_t)(most - least) / 2 / STRANDS);
}

void strand_clock_calibrate(void)
{
    uint64_t ticks = ticks_in(CALIBRATION_NS);
    unit_per_tick = ((uint64_t)CALIBRATION_NS << (32 + STRAND_SHIFT)) / ticks;
    long_ticks = ticks / (CALIBRATION_NS / LONG_NS);
    measure_excess();
}

uint64_t strand_uncertainty(void)
{
    return uncertainty;
}

/* ---- pauses ---- */

struct strand_pause strand_pause(bool may_wait)
{
    uint64_t begin = may_wait ? sys_clock(CLOCK_THREAD_CPUTIME_ID) : ticks_now();
    return (struct strand_pause){begin, paused, may_wait};
}

/* A pause in a pause is not subtracted twice. A handler that takes long has lost its CPU: then its
 * own time is not known, and stays in the strand. */
void strand_go_on(const struct strand_pause *pause)
{
    uint64_t time = 0;
    if (pause->may_wait) {
        time = (sys_clock(CLOCK_THREAD_CPUTIME_ID) - pause->begin) << STRAND_SHIFT;
    } else {
        uint64_t ticks = ticks_now() - pause->begin;
        time = ticks < long_ticks ? in_units(ticks) : 0;
    }
    paused = pause->paused + time;
}

/* ---- strands ---- */

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
    clock->paused = paused;
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
    clock->paused = NOT_KNOWN;
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
    int64_t ticks = (int64_t)(end - clock->begin) - excess;
    return in_units(ticks > 0 ? (uint64_t)ticks : 0);
}

uint64_t strand_passed(const struct strand_clock *clock)
{
    return seeming_time(clock, ticks_now());
}

void strand_stop(struct strand_clock *clock)
{
    clock->end = ticks_now();
    clock->is_stopped = true;
}

uint64_t strand_end(struct strand_clock *clock)
{
    if (!clock->is_stopped)
        clock->end = ticks_now();
    clock->is_stopped = false;
    uint64_t time = seeming_time(clock, clock->end);
    uint64_t pauses = clock->paused == NOT_KNOWN ? 0 : paused - clock->paused;
    if (clock->end - clock->begin > long_ticks)
        time = cpu_time(clock, time);
    return time > pauses ? time - pauses : 0;
}

uint64_t strand_cut(struct strand_clock *clock)
{
    uint64_t now = ticks_now();
    if (now - clock->begin > long_ticks)
        return 0;
    uint64_t time = seeming_time(clock, now);
    clock->begin = now;
    return time;
}
