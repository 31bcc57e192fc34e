/* What becomes of a sample: its fate, and what the time line gets. */
#include "tests/unit/hpcrun/made_sample.h"

#include "agents/semaphore-holders.h"

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

TEST(a_wait_lasts_while_its_wrapper_is_on_the_stack)
{
    static struct agent_slot slot;
    for (unsigned i = 0; i < 2; i++) {
        begin_sample(state);
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
        begin_sample(state);
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

/* Callers are looked up at their return address - 1, as the program's frames are. */
TEST(the_kernels_frames_are_below_the_path)
{
    static const uint64_t frames[] = {0x30, 0x21, 0x11};
    take_increment(&(struct increment){.fired = true, .amount = 1000, .kernel = frames, .kernel_count = 3});
    assert_int_equal(entered, 3);
    assert_int_equal(entered_ips[0], KERNEL_IP + 0x10);
    assert_int_equal(entered_ips[1], KERNEL_IP + 0x20);
    assert_int_equal(entered_ips[2], KERNEL_IP + 0x30);
    assert_int_equal(paid[NODE][WORK], 0);
    assert_int_equal(paid[UNKNOWN][WORK], 1000);
    assert_int_equal(found.node, UNKNOWN);
    assert_only_fate(FATE_RECORDED, 1000);
}

TEST(a_kernel_that_hides_its_addresses_is_one_frame)
{
    static const uint64_t frames[] = {0x30, 0x21, 0x11};
    kernel_is_hidden = true;
    take_increment(&(struct increment){.fired = true, .amount = 1000, .kernel = frames, .kernel_count = 3});
    assert_int_equal(entered, 1);
    assert_int_equal(entered_ips[0], KERNEL_IP);
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
        begin_sample(state);
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
    waiters.count = 4;
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

/* Also what it was ready to run: the holder of the lock keeps it from nothing else. */
TEST(a_sample_of_a_wait_for_a_lock_says_how_long_it_is)
{
    static struct agent_slot slot;
    own_slot = &slot;
    for (unsigned i = 0; i < 3; i++) {
        slot.lock = i > 0;
        set_status(i == 2 ? AGENT_WORKING : AGENT_WAITING, 4, 1);
        take(1000);
        assert_int_equal(slot.unpaid[event - thread.events], i > 0 ? 1000 : 0);
    }
    set_status(AGENT_IDLE, 4, 1); /* it waits in a runtime */
    take(1000);
    assert_int_equal(slot.unpaid[event - thread.events], 2000);
}

TEST(a_wait_for_a_semaphore_is_one_for_a_lock_if_that_is_known)
{
    static struct agent_slot slot;
    const uint64_t lock = 0x7f0000123450, held = semaphore_held_by(lock, 5);
    const uint64_t words[] = {held & ~SEMAPHORE_IS_LOCK, held | SEMAPHORE_IS_SIGNAL, semaphore_held_by(lock + 16, 5), held};
    uint64_t word;
    own_slot = &slot;
    slot.lock = lock;
    slot.holder = AGENT_HOLDER_OF_SEMAPHORE | (uint64_t)&word;
    set_status(AGENT_WAITING, 4, 1);
    for (unsigned i = 0; i < 4; i++) {
        word = words[i];
        take(1000);
        assert_int_equal(slot.unpaid[event - thread.events], i == 3 ? 1000 : 0);
    }
}

/* A sample of the wall clock may be late: it says until when it pays. */
TEST(a_record_ends_where_its_time_ends)
{
    for (unsigned dropped = 0; dropped < 2; dropped++) {
        node_of_path = dropped ? CCT_NO_MEMORY : NODE;
        take_increment(&(struct increment){.fired = true, .amount = 10, .until = 77});
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

EACH_TEST(begin_sample, NULL);
