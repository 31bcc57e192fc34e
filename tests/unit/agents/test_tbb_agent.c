/* agents/tbb/agent.c at samples: a thread that is in libtbb between two tasks works, one that looks
 * for work does not. The slots are the test's. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/agents/recording_host.h"

#include "agents/tbb/task-contexts.h"
#include "agents/tbb/tbb-copies.h"
#include "agents/tbb/thread-limit.h"

_Atomic uint32_t tbb_thread_limit, tbb_threads;

bool tbb_has_code_at(uint64_t address)
{
    return true;
}

void tbb_add_module(uint64_t address)
{
}

void tbb_forget_module(uint64_t start, uint64_t end)
{
}

static struct agent_slot chunk[AGENT_SLOTS];
static struct agent_slots slots = {.chunk = {chunk}};
static bool is_mapped; /* the memory outside of the slots */

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    if (is_mapped)
        memcpy(to, (const void *)address, size);
    return is_mapped;
}

static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    return false;
}

static struct agent_slot *add_worker(enum agent_slot_state state)
{
    struct agent_slot *slot = &chunk[slots.end++];
    *slot = (struct agent_slot){.state = state};
    own_slot = slot;
    hpcrun_agent.thread_begin(NULL, 1, (struct agent_start_routine){1, 1});
    slot->state = state;
    return slot;
}

static int begin(void **state)
{
    static const struct agent_host host = {.claim = record_claim,
                                           .find_claim = recorded_claim,
                                           .read = read_memory,
                                           .step = step,
                                           .slots = &slots};
    slots.end = 0;
    is_mapped = true;
    return hpcrun_agent.start(&host) ? 0 : -1;
}

static struct agent_cursor cursor;

static enum agent_thread_status status_of(struct agent_slot *slot)
{
    cursor = (struct agent_cursor){.state = fresh_state()};
    own_slot = slot;
    return hpcrun_agent.unwind_begin(&cursor);
}

static uint32_t count_working(void)
{
    return hpcrun_agent.worker_counts(&cursor).working;
}

TEST(a_thread_with_tasks_in_its_queue_is_about_to_run_one)
{
    struct agent_slot *slot = add_worker(AGENT_SLOT_IDLE);
    assert_int_equal(status_of(slot), AGENT_IDLE);
    assert_int_equal(count_working(), 0);
    queue_add(slot);
    assert_int_equal(status_of(slot), AGENT_WORKING);
    assert_int_equal(count_working(), 1);
    add_worker(AGENT_SLOT_WORKING);
    assert_int_equal(count_working(), 2);
}

/* Others will steal its tasks. */
TEST(a_thread_that_sleeps_does_not_work)
{
    struct agent_slot *slot = add_worker(AGENT_SLOT_ASLEEP);
    queue_add(slot);
    assert_int_equal(status_of(slot), AGENT_IDLE);
    assert_int_equal(count_working(), 0);
}

TEST(a_thread_that_waits_in_a_region_of_openmp_does_not_work)
{
    struct agent_slot *slot = add_worker(AGENT_SLOT_IDLE);
    queue_add(slot);
    slot->gomp.link = slot;
    assert_int_equal(status_of(slot), AGENT_IDLE);
}

TEST(a_wait_without_references_is_over)
{
    uint64_t wait[2] = {1, 1}; /* tbb::detail::d1::wait_context */
    struct agent_slot *slot = add_worker(AGENT_SLOT_IDLE);
    slot->tbb.own = wait;
    assert_int_equal(status_of(slot), AGENT_IDLE);
    wait[1] = 0;
    assert_int_equal(status_of(slot), AGENT_WORKING);
    assert_int_equal(count_working(), 1);
    is_mapped = false;
    assert_int_equal(status_of(slot), AGENT_IDLE);
}

/* With a control of n threads, n - 1 of the pool work beside the one that calls TBB. */
TEST(a_limit_leaves_room_for_the_caller)
{
    for (int i = 0; i < 3; i++)
        add_worker(AGENT_SLOT_IDLE);
    struct agent_slot *caller = &chunk[slots.end++];
    *caller = (struct agent_slot){.state = AGENT_SLOT_WORKING, .runtimes = RUNTIME_TBB};
    status_of(caller);
    for (uint32_t limit = 0; limit < 6; limit++) {
        tbb_thread_limit = limit;
        uint32_t all = limit && limit < 4 ? limit : 4;
        assert_int_equal(hpcrun_agent.worker_counts(&cursor).workers, all);
    }
    tbb_thread_limit = 0;
}

static bool next_note(struct agent_lnote *note)
{
    return hpcrun_agent.step_lnote(&cursor, note);
}

/* Its innermost frame is the runtime's, and outside of it is the path to its last task. */
TEST(a_worker_between_tasks_is_in_the_context_of_the_last)
{
    static uint64_t memory[64];
    struct agent_slot *slot = add_worker(AGENT_SLOT_IDLE);
    struct task_record *kept = (struct task_record *)memory;
    const struct agent_frame frame = {.pc = 0x100};
    struct agent_lnote note;
    kept->context = (struct creation_context){.kind = CONTEXT_ON_STACK, .pc = 0x5001, .thread = 70};
    task_of(kept)->context = kept;
    slot->tbb.kept = kept;
    queue_add(slot);
    assert_int_equal(status_of(slot), AGENT_WORKING);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_M);
    assert_true(cursor.replaces_callers);
    assert_true(next_note(&note));
    assert_int_equal(note.value, 0x5000);
    assert_false(next_note(&note));
    assert_int_equal(cursor.owner, 70);
}

EACH_TEST(begin, NULL);
