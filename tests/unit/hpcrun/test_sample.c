/* What becomes of a sample: its fate, and what its node pays. The path, the agent's answer and the
 * tree are made up here. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/lock-wait-record.h"
#include "hpcrun/sample/sample.h"

struct process process;
struct sampling sampling;

enum { WORK, WALL, OFF_CPU, READY, IDLENESS, INCOMPLETE, WAITING, LOCK_BLAME, METRICS };

#define NODE    5u
#define UNKNOWN 6u
#define KEPT    7u /* for a lock that is kept for long */

static struct thread thread;
static struct arena_thread image;
static struct thread_event *const event = &thread.events[0];
static struct thread_status status;
static enum unwind_end path_end;
static uint32_t node_of_path, full_metric; /* full_metric: has no memory; METRICS: all have */
static uint64_t paid[KEPT + 1][METRICS];
static uint32_t recorded_workers, recorded_n;

__thread struct agent_slot *own_slot;

void slots_find_long_calls(uint64_t ticks)
{
}

static uint32_t running; /* threads that work, by their slots */

uint32_t slots_running(void)
{
    return running;
}

static uint32_t waiters; /* for locks of the thread */
static uint64_t charged; /* the amount that each of them was charged */

/* A path of three frames, the middle one of hpcrun's own code. */
#define OWN_CODE  2000u
#define OWN_FRAME 0x7000u
static struct frame path[3] = {
    {.pc = 1000, .bp = 0x7100}, {.pc = OWN_CODE, .bp = OWN_FRAME}, {.pc = 3000, .bp = OWN_FRAME}};
static struct rule_cache cache;

/* ---- stubs for sample.c ---- */

struct rule rule_cache_fill(struct rule_cache *of, uint64_t pc)
{
    return (struct rule){.hidden = pc == OWN_CODE};
}

uint32_t agent_query_charge_waiters(struct agent_query *query, unsigned which, uint64_t amount)
{
    assert_int_equal(which, 0);
    charged = amount;
    return waiters;
}

enum unwind_end unwind(struct unwinder *u, const ucontext_t *context)
{
    u->depth = 3;
    u->path = path;
    u->cache = &cache;
    return path_end;
}

const struct thread_status *agent_query_status(struct agent_query *query, struct unwinder *u,
                                               int tid)
{
    return &status;
}

uint32_t lock_kept_node(struct thread *self)
{
    assert_ptr_equal(self, &thread);
    return KEPT;
}

uint32_t agent_query_path(struct agent_query *query)
{
    return 0;
}

uint32_t logical_enter(struct logical *logical, struct unwinder *u, struct cct *cct,
                       enum unwind_end end, uint32_t unchanged)
{
    assert_int_equal(end, path_end);
    return node_of_path;
}

uint32_t logical_unknown(struct cct *cct)
{
    return UNKNOWN;
}

bool cct_add(struct cct *cct, uint32_t node, uint32_t metric, uint64_t amount)
{
    assert_in_range(node, NODE, KEPT);
    assert_in_range(metric, 0, METRICS - 1);
    if (metric == full_metric)
        return false;
    paid[node][metric] += amount;
    return true;
}

void workers_record(unsigned agent, uint32_t workers, uint32_t n)
{
    recorded_workers = workers;
    recorded_n = n;
}

/* ---- one sample ---- */

STEP(begin)
{
    memset(&process, 0, sizeof process);
    memset(&thread, 0, sizeof thread);
    memset(&image, 0, sizeof image);
    memset(&paid, 0, sizeof paid);
    thread.image = thread.own_image = &image;
    process.usable_cpus = 8;
    *event = (struct thread_event){.work = WORK,
                                   .wall_time = WALL,
                                   .off_cpu = OFF_CPU,
                                   .ready = READY,
                                   .idleness = IDLENESS,
                                   .incomplete = INCOMPLETE,
                                   .waiting = WAITING,
                                   .lock_blame = LOCK_BLAME,
                                   .fates = image.fates[0]};
    own_slot = NULL;
    waiters = running = 0;
    status = (struct thread_status){.kind = AGENT_FOREIGN};
    path_end = UNWIND_COMPLETE;
    node_of_path = NODE;
    full_metric = METRICS;
    recorded_workers = recorded_n = 0;
}

static struct trace_record found; /* by the last sample */

static void take(uint64_t amount)
{
    static const ucontext_t context;
    sample_record(&thread, event, &(struct increment){.fired = true, .amount = amount}, &context, &found);
}

static void set_status(enum agent_thread_status kind, uint32_t workers, uint32_t working)
{
    status =
        (struct thread_status){.kind = kind, .counts = {.workers = workers, .working = working}};
}

static const struct fate_count *fate(enum fate which)
{
    return &event->fates[fate_slot(which)];
}

static void assert_fate(enum fate which, uint64_t count, uint64_t amount)
{
    assert_int_equal(fate(which)->count, count);
    assert_int_equal(fate(which)->amount, amount);
}

/* The only fates are `fired` and this one. */
static void assert_only_fate(enum fate which, uint64_t amount)
{
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        bool has = fate_of_slot(slot) == FATE_FIRED || fate_of_slot(slot) == which;
        assert_int_equal(event->fates[slot].count, has);
        assert_int_equal(event->fates[slot].amount, has ? amount : 0);
    }
}

static void assert_paid(uint64_t work, uint64_t idleness, uint64_t incomplete)
{
    assert_int_equal(paid[NODE][WORK], work);
    assert_int_equal(paid[NODE][IDLENESS], idleness);
    assert_int_equal(paid[NODE][INCOMPLETE], incomplete);
}

/* ---- fates ---- */

TEST(every_fate_has_a_place_of_its_own)
{
    static const enum fate all[] = {FATE_FIRED,
                                    FATE_RECORDED,
                                    FATE_IDLE,
                                    FATE_NOBODY_WORKING,
                                    FATE_DROPPED_OWN_CODE,
                                    FATE_DROPPED_NO_MEMORY,
                                    FATE_DROPPED_ENDING,
                                    FATE_DROPPED_BEING_WRITTEN,
                                    FATE_PARTIAL_NO_FDE,
                                    FATE_PARTIAL_NO_RULE,
                                    FATE_PARTIAL_NOT_READABLE,
                                    FATE_PARTIAL_NOT_A_RETURN_ADDRESS,
                                    FATE_PARTIAL_TOO_DEEP,
                                    FATE_PARTIAL_NO_PROGRESS,
                                    FATE_PARTIAL_BUDGET,
                                    FATE_KERNEL_UNATTRIBUTED};
    bool taken[FATE_SLOTS] = {false};
    assert_int_equal(sizeof all / sizeof *all, FATE_SLOTS);
    for (unsigned i = 0; i < FATE_SLOTS; i++) {
        unsigned slot = fate_slot(all[i]);
        assert_in_range(slot, 0, FATE_SLOTS - 1);
        assert_false(taken[slot]);
        taken[slot] = true;
        assert_int_equal(fate_of_slot(slot), all[i]);
    }
}

TEST(a_sample_is_recorded_and_pays_its_node)
{
    take(1000);
    assert_only_fate(FATE_RECORDED, 1000);
    assert_paid(1000, 0, 0);
    assert_int_equal(paid[NODE][OFF_CPU], 0);
    assert_int_equal(thread.unwinder.depth, 3);
}

TEST(time_off_the_cpu_is_told_apart)
{
    static const ucontext_t context;
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 400};
    sample_record(&thread, event, &increment, &context, &found);
    assert_paid(1000, 0, 0);
    assert_int_equal(paid[NODE][OFF_CPU], 400);
}

/* Its time is no work, and all of it is blocked. */
TEST(a_thread_that_waits_pays_waiting)
{
    static const ucontext_t context;
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 900};
    set_status(AGENT_WAITING, 4, 1);
    sample_record(&thread, event, &increment, &context, &found);
    assert_only_fate(FATE_RECORDED, 1000);
    assert_paid(0, 0, 0);
    assert_int_equal(paid[NODE][WAITING], 1000);
    assert_int_equal(paid[NODE][OFF_CPU], 0);
}

/* Time without a CPU is of no other metric: not work, nor blame for others. */
TEST(time_without_a_cpu_is_only_ready)
{
    static const ucontext_t context;
    struct increment increment = {.fired = true, .amount = 1000, .off_cpu = 100, .ready = 600};
    for (unsigned i = 0; i < 2; i++) {
        begin(state);
        set_status(i ? AGENT_WAITING : AGENT_WORKING, 4, 1);
        waiters = 1;
        sample_record(&thread, event, &increment, &context, &found);
        assert_only_fate(FATE_RECORDED, 1000);
        assert_int_equal(paid[NODE][READY], 600);
        assert_int_equal(paid[NODE][i ? WAITING : WORK], 400);
        assert_int_equal(paid[NODE][OFF_CPU], i ? 0 : 100);
        assert_int_equal(paid[NODE][IDLENESS], i ? 0 : 1200);
        assert_int_equal(paid[NODE][LOCK_BLAME], 400);
    }
}

/* ---- the clock ---- */

/* Threads that work at the same time share the clock. CPU time counts, of as many threads as can run. */
TEST(threads_that_work_share_the_clock)
{
    static const ucontext_t context;
    static const struct {
        enum agent_thread_status kind;
        uint32_t workers, working, running, cpus;
        uint64_t wall; /* for 1200, 300 of them without a CPU or off it */
    } cases[] = {
        {AGENT_WORKING, 4, 4, 9, 8, 225}, {AGENT_WORKING, 4, 1, 9, 8, 900},
        {AGENT_WORKING, 8, 8, 9, 2, 450}, {AGENT_WORKING, 4, 0, 9, 8, 900},
        {AGENT_FOREIGN, 0, 0, 3, 8, 300}, {AGENT_FOREIGN, 0, 0, 0, 8, 900},
        {AGENT_FOREIGN, 0, 0, 9, 2, 450}, {AGENT_WAITING, 4, 1, 9, 8, 0},
    };
    struct increment increment = {.fired = true, .amount = 1200, .off_cpu = 100, .ready = 200};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        process.usable_cpus = cases[i].cpus;
        running = cases[i].running;
        set_status(cases[i].kind, cases[i].workers, cases[i].working);
        sample_record(&thread, event, &increment, &context, &found);
        assert_int_equal(paid[NODE][WALL], cases[i].wall);
    }
}

TEST(an_event_without_time_has_no_clock)
{
    event->wall_time = NO_METRIC;
    take(1000);
    assert_paid(1000, 0, 0);
}

/* A holder may itself wait. */
TEST(the_holder_of_a_lock_pays_for_each_thread_that_waits)
{
    for (unsigned i = 0; i < 2; i++) {
        begin(state);
        set_status(i ? AGENT_WAITING : AGENT_WORKING, 4, 4);
        waiters = 3;
        take(1000);
        assert_int_equal(charged, 1000);
        assert_int_equal(paid[NODE][LOCK_BLAME], 3000);
    }
}

/* 4 ms at a time: from the sixth sample of the same turn on, the thread has kept the lock for 20 ms. */
TEST(a_lock_that_is_kept_for_long_has_a_node_of_its_own)
{
    const uint64_t amount = (uint64_t)4000000 << TIME_SHIFT;
    waiters = 2;
    set_status(AGENT_WORKING, 3, 1);
    for (status.counts.turn = 5; status.counts.turn < 7; status.counts.turn++) {
        memset(&paid, 0, sizeof paid);
        for (int i = 0; i < 8; i++)
            take(amount);
        assert_int_equal(paid[NODE][LOCK_BLAME], 6 * 2 * amount);
        assert_int_equal(paid[KEPT][LOCK_BLAME], 2 * 2 * amount);
        assert_int_equal(paid[KEPT][WORK], 0);
    }
    memset(&paid, 0, sizeof paid);
    status.counts.turn = 0; /* a lock that is no interpreter's */
    for (int i = 0; i < 8; i++)
        take(amount);
    assert_int_equal(paid[NODE][LOCK_BLAME], 8 * 2 * amount);
}

TEST(a_wait_lasts_while_its_wrapper_is_on_the_stack)
{
    static struct agent_slot slot;
    for (unsigned i = 0; i < 2; i++) {
        begin(state);
        slot.state = AGENT_SLOT_WAITING;
        slot.frame = i ? OWN_FRAME : 0x7050;
        own_slot = &slot;
        take(1000);
        assert_int_equal(slot.state, i ? AGENT_SLOT_WAITING : AGENT_SLOT_WORKING);
    }
}

/* The frame of a partial path may be in the part that is missing. */
TEST(a_partial_path_ends_no_wait)
{
    static struct agent_slot slot = {.state = AGENT_SLOT_WAITING, .frame = 0x7050};
    own_slot = &slot;
    path_end = UNWIND_NO_FDE;
    take(1000);
    assert_int_equal(slot.state, AGENT_SLOT_WAITING);
}

/* The path is not in the tree, so the next one must not reuse its nodes. */
TEST(a_worker_without_work_pays_nothing)
{
    set_status(AGENT_IDLE, 4, 1);
    take(1000);
    assert_only_fate(FATE_IDLE, 1000);
    assert_paid(0, 0, 0);
    assert_int_equal(thread.unwinder.depth, 0);
}

TEST(nobody_works_if_no_worker_does)
{
    set_status(AGENT_IDLE, 4, 0);
    take(1000);
    assert_only_fate(FATE_NOBODY_WORKING, 1000);
    assert_paid(0, 0, 0);
}

/* A thread that the runtime uses for itself is no worker. */
TEST(the_runtimes_own_thread_is_idle_whoever_works)
{
    for (uint32_t working = 0; working < 2; working++) {
        begin(state);
        set_status(AGENT_RUNTIME_OWNED, 4, working);
        take(1000);
        assert_only_fate(FATE_IDLE, 1000);
        assert_paid(0, 0, 0);
    }
}

TEST(without_memory_for_the_path_a_sample_is_dropped_for_that_reason)
{
    node_of_path = CCT_NO_MEMORY;
    take(1000);
    assert_only_fate(FATE_DROPPED_NO_MEMORY, 1000);
    assert_int_equal(thread.unwinder.depth, 0);
    assert_string_equal(fate_drop_reason(FATE_DROPPED_NO_MEMORY), "out of memory");
}

TEST(without_memory_for_the_value_it_is_dropped_too)
{
    full_metric = WORK;
    take(1000);
    assert_only_fate(FATE_DROPPED_NO_MEMORY, 1000);
    assert_int_equal(thread.unwinder.depth, 0);
}

/* A sample with a partial path is recorded, and counted under its reason besides. */
TEST(a_partial_path_has_its_reason)
{
    static const struct {
        enum unwind_end end;
        enum fate fate;
    } reasons[] = {
        {UNWIND_NO_FDE, FATE_PARTIAL_NO_FDE},
        {UNWIND_NO_RULE, FATE_PARTIAL_NO_RULE},
        {UNWIND_NOT_READABLE, FATE_PARTIAL_NOT_READABLE},
        {UNWIND_NOT_A_RETURN_ADDRESS, FATE_PARTIAL_NOT_A_RETURN_ADDRESS},
        {UNWIND_TOO_DEEP, FATE_PARTIAL_TOO_DEEP},
        {UNWIND_NO_PROGRESS, FATE_PARTIAL_NO_PROGRESS},
        {UNWIND_BUDGET, FATE_PARTIAL_BUDGET},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        begin(state);
        path_end = reasons[i].end;
        take(1000);
        assert_fate(FATE_RECORDED, 1, 1000);
        for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++)
            assert_fate(reasons[k].fate, k == i, k == i ? 1000 : 0);
        assert_paid(1000, 0, 0);
    }
}

/* The root of the tree has no values. */
TEST(a_path_of_hidden_frames_is_unknown)
{
    node_of_path = CCT_ROOT;
    take(1000);
    assert_only_fate(FATE_RECORDED, 1000);
    assert_int_equal(paid[UNKNOWN][WORK], 1000);
    assert_paid(0, 0, 0);
}

TEST(a_missed_sample_waits_to_be_counted)
{
    sample_count_missed(event, &(struct increment){.fired = true, .amount = 300});
    sample_count_missed(event, &(struct increment){.fired = true, .amount = 500});
    assert_int_equal(event->missed.count, 2);
    assert_int_equal(event->missed.amount, 800);
    assert_fate(FATE_FIRED, 0, 0);
}

/* fired = recorded + idle + nobody working + dropped, in counts and in time, whatever happens. */
TEST(no_sample_is_lost_or_counted_twice)
{
    uint64_t recorded = 0;
    srand(1);
    for (int i = 0; i < 10000; i++) {
        set_status((enum agent_thread_status)(rand() % 4), (uint32_t)rand() % 6,
                   (uint32_t)rand() % 6);
        path_end = (enum unwind_end)(rand() % (UNWIND_BUDGET + 1));
        node_of_path = rand() % 8 ? NODE : rand() % 2 ? CCT_NO_MEMORY : CCT_ROOT;
        full_metric = rand() % 8 ? METRICS : WORK;
        take((uint64_t)rand());
    }
    struct fate_count sum = {0};
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++)
        if (fate_of_slot(slot) != FATE_FIRED && fate_of_slot(slot) < FATE_PARTIAL_NO_FDE) {
            sum.count += event->fates[slot].count;
            sum.amount += event->fates[slot].amount;
        }
    assert_fate(FATE_FIRED, 10000, sum.amount);
    assert_int_equal(sum.count, 10000);
    for (uint32_t node = NODE; node <= UNKNOWN; node++)
        recorded += paid[node][WORK];
    assert_int_equal(fate(FATE_RECORDED)->amount, recorded);
}

/* ---- what the time line gets ---- */

static void assert_found(uint64_t state, uint32_t node)
{
    assert_int_equal(found.amount, state);
    assert_int_equal(found.node, node);
    assert_int_not_equal(found.time, 0);
}

TEST(a_sample_says_what_it_found)
{
    static const struct {
        enum agent_thread_status kind;
        uint32_t working;
        uint64_t state;
        uint32_t node, n, divisor;
    } cases[] = {
        {AGENT_WORKING, 2, TRACE_WORK | TRACE_WORKER, NODE, 6, 2},
        {AGENT_WORKING, 0, TRACE_WORK | TRACE_WORKER, NODE, 6, 1},
        {AGENT_FOREIGN, 2, TRACE_WORK, NODE, 6, 3}, /* of the slots */
        {AGENT_WAITING, 2, TRACE_WAITING, NODE, 6, 2},
        {AGENT_IDLE, 2, TRACE_IDLE, 0, 0, 0},
        {AGENT_IDLE, 0, TRACE_NOBODY, 0, 0, 0},
        {AGENT_RUNTIME_OWNED, 2, TRACE_RUNTIME, 0, 0, 0},
    };
    running = 3;
    waiters = 4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_status(cases[i].kind, 6, cases[i].working);
        take(1000);
        assert_found(cases[i].state, cases[i].node);
        assert_int_equal(found.n, cases[i].n);
        assert_int_equal(found.working, cases[i].divisor);
        assert_int_equal(found.waiters, cases[i].node ? 4 : 0);
    }
    event->waiting = NO_METRIC; /* then waiting is work */
    set_status(AGENT_WAITING, 6, 1);
    take(1000);
    assert_found(TRACE_WORK, NODE);
}

/* A sample of the wall clock may be late: it says until when it pays. */
TEST(a_record_ends_where_its_time_ends)
{
    static const ucontext_t context;
    for (unsigned dropped = 0; dropped < 2; dropped++) {
        node_of_path = dropped ? CCT_NO_MEMORY : NODE;
        sample_record(&thread, event, &(struct increment){.fired = true, .amount = 10, .until = 77},
                      &context, &found);
        assert_int_equal(found.time, 77);
    }
}

TEST(a_dropped_sample_has_found_nothing)
{
    node_of_path = CCT_NO_MEMORY;
    take(1000);
    assert_found(TRACE_DROPPED, 0);
    node_of_path = NODE;
    full_metric = WORK;
    take(1000);
    assert_found(TRACE_DROPPED, 0);
    full_metric = METRICS;
    process.config.work_span = true;
    path[2].pc = OWN_CODE;
    set_status(AGENT_WORKING, 4, 1);
    take(1000);
    path[2].pc = 3000;
    assert_found(TRACE_DROPPED, 0);
}

/* The time line has both in records of their own. */
TEST(time_off_the_cpu_pays_idleness_by_itself)
{
    static const ucontext_t context;
    struct increment increment = {.fired = true, .amount = 10, .off_cpu = 5};
    set_status(AGENT_WORKING, 3, 2);
    sample_record(&thread, event, &increment, &context, &found);
    assert_paid(10, 5 / 2 + 5 / 2, 5 / 2 + 5 / 2);
}

/* ---- blame for idle workers ---- */

/* Expected values are those of the definition: amount x (n - n_w) / n_w, and amount / n_w, with n =
 * min(workers, CPUs or --cores) and 1 <= n_w <= n. */
TEST(a_working_worker_pays_its_share_of_idleness)
{
    static const struct {
        uint32_t workers, working, cpus, cores;
        uint64_t idleness, incomplete; /* for 1200 */
    } cases[] = {
        {4, 4, 8, 0, 0, 0},        {4, 1, 8, 0, 3600, 1200}, {4, 2, 8, 0, 1200, 600},
        {4, 3, 8, 0, 400, 400},    {4, 0, 8, 0, 3600, 1200}, /* at least the sampled one works */
        {4, 5, 8, 0, 0, 0},        {8, 2, 2, 0, 0, 0},       {8, 1, 2, 0, 1200, 1200},
        {8, 3, 2, 0, 0, 0},        {8, 2, 2, 4, 1200, 600},  {8, 2, 16, 4, 1200, 600},
        {2, 1, 16, 8, 1200, 1200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        process.usable_cpus = cases[i].cpus;
        process.config.cores = cases[i].cores;
        set_status(AGENT_WORKING, cases[i].workers, cases[i].working);
        take(1200);
        assert_paid(1200, cases[i].idleness, cases[i].incomplete);
        assert_only_fate(FATE_RECORDED, 1200);
        uint32_t cpus = cases[i].cores ? cases[i].cores : cases[i].cpus;
        assert_int_equal(recorded_workers, cases[i].workers);
        assert_int_equal(recorded_n, cases[i].workers < cpus ? cases[i].workers : cpus);
    }
}

/* 2^55 is 9.5 hours in fixed point; times 1023 it has 65 bits. */
TEST(large_amounts_do_not_overflow)
{
    process.usable_cpus = 1024;
    set_status(AGENT_WORKING, 1024, 2);
    take((uint64_t)1 << 55);
    assert_paid((uint64_t)1 << 55, ((uint64_t)1 << 55) / 2 * 1022, (uint64_t)1 << 54);
}

TEST(a_foreign_thread_pays_no_idleness)
{
    status.counts = (struct agent_worker_counts){.workers = 4, .working = 1};
    take(1200);
    assert_paid(1200, 0, 0);
    assert_int_equal(recorded_n, 0);
}

TEST(an_event_without_idleness_pays_none)
{
    event->idleness = event->incomplete = NO_METRIC;
    set_status(AGENT_WORKING, 4, 1);
    take(1200);
    assert_paid(1200, 0, 0);
}

EACH_TEST(begin, NULL);
