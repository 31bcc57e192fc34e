#include "tests/unit/hpcrun/sampled_thread.h"

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/source/cpu-time-source.c"
#include "hpcrun/source/sample-source.c"
#include "hpcrun/source/source-perf.c"
#include "hpcrun/source/source-timer.c"
#include "hpcrun/source/wall-clock-source.c"
#include "hpcrun/thread/ready-time.c"

struct process process = {.usable_cpus = 2};
struct sampling sampling;
bool waiting, is_restricted;
uint64_t sample_ns;
uint32_t live;

bool process_is_restricted(void)
{
    return is_restricted;
}

struct agent_slot slot;
__thread struct agent_slot *own_slot;

/* ---- stubs for the sources ---- */

bool fds_are_few(void)
{
    return false;
}

int fds_adopt(int fd)
{
    return fd;
}

void fds_close(int fd)
{
}

uint32_t threads_live(void)
{
    return live;
}

bool thread_block_samples(struct thread *thread)
{
    return true;
}

void thread_unblock_samples(struct thread *thread)
{
}

bool guard_is_armed(uint64_t mask, void *handler)
{
    return true;
}

bool guard_copy(void *to, uint64_t from, size_t size, bool armed)
{
    memcpy(to, waiting ? "\x0f\x05" : "\x90\x90", size);
    return true;
}

/* ---- a thread ---- */

static const enum sample_source source_of[] = {
    SOURCE_TASK_CLOCK, SOURCE_TASK_CLOCK,      SOURCE_CPU_TIMER,       SOURCE_CPU_TIMER,
    SOURCE_CPU_TIMER,  SOURCE_MONOTONIC_TIMER, SOURCE_MONOTONIC_TIMER, SOURCE_COUNTER};
static const int timer_limit[] = {SIM_TIMERS, 0, 2, SIM_TIMERS, 1, SIM_TIMERS, 1, 0};

struct thread thread;
ucontext_t context;
static struct event event;

void begin(enum way way, uint64_t seed)
{
    sim_start();
    sim.refuses_perf = way == BY_ONE_TIMER || way == BY_TIMERS || way == BY_CPU_TIMER;
    timers_after_fork(); /* the former kernel's are gone */
    sim.timer_limit = timer_limit[way];
    sim.keeps_stale = seed % 2;
    event = (struct event){.kind = way == BY_COUNT        ? EVENT_COUNTER
                                   : way >= BY_WALL_CLOCK ? EVENT_REALTIME
                                                          : EVENT_CPUTIME,
                           .period = PERIOD};
    memset(&thread, 0, sizeof thread);
    thread.tid = 1;
    thread.random = seed * 0x9e3779b97f4a7c15u;
    thread.event_count = 1;
    thread.events[0].event = &event;
    thread.events[0].period = PERIOD;
    waiting = is_restricted = false;
    context = (ucontext_t){0};
    sample_ns = 0;
    live = 1;
    own_slot = &slot;
    slot = (struct agent_slot){.state = AGENT_SLOT_WORKING};
    atomic_store(&sample_cost, 5000);
    atomic_store(&has_accounts, false);
    sampling.no_ticks = true; /* ticks_now is the simulated wall clock */
    sources_init(&process.config, SIGRTMIN);
    source_open(&thread, &thread.events[0]);
    assert_int_equal(thread.events[0].source, source_of[way]);
}

void set_place(enum place place)
{
    greg_t *reg = context.uc_mcontext.gregs;
    reg[REG_RIP] = 0x1000;
    reg[REG_RCX] = place == IN_CODE ? 0x2000 : place == BEFORE_CALL ? 0x1002 : 0x1000;
    reg[REG_RAX] = place == AFTER_CALL ? -EINTR : 0;
}

void begin_counting_thread(uint64_t seed)
{
    sim_start();
    memset(&thread, 0, sizeof thread);
    thread.random = seed * 0x9e3779b97f4a7c15u;
    thread.event_count = 1;
    thread.events[0].event = &process.config.events[0];
    thread.events[0].period = process.config.events[0].period;
    source_open(&thread, &thread.events[0]);
    assert_int_equal(thread.events[0].source, SOURCE_COUNTER);
}

void begin_counter(uint64_t seed)
{
    process.config.events[0] =
        (struct event){.kind = EVENT_COUNTER, .period = 1, .interval = PERIOD};
    atomic_store(&learned_period[0], 0);
    begin_counting_thread(seed);
}

uint64_t cost_of_samples(void)
{
    return atomic_load(&sample_cost);
}

void take(struct paid *paid)
{
    siginfo_t info;
    if (!sim_take(&info))
        return;
    struct thread_event *its = source_of_signal(&thread, &info);
    assert_ptr_equal(its, &thread.events[0]);
    struct increment increment = source_measure(&thread, its, &info, &context);
    if (!increment.fired)
        return;
    paid->amount +=
        its->source == SOURCE_COUNTER ? increment.amount : increment.amount >> TIME_SHIFT;
    paid->off_cpu += increment.off_cpu >> TIME_SHIFT;
    paid->ready += increment.ready >> TIME_SHIFT;
    paid->samples++;
    sim_run_blocked(sample_ns);
    source_arm(&thread, its);
}

void run(uint64_t ns, struct paid *paid)
{
    for (uint64_t ran = 0; ran < ns;) {
        ran += sim_run(ns - ran);
        take(paid);
    }
}
