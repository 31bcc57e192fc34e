/* agents/common/thread-slots.h: which threads serve a runtime, and which of them work. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/common/thread-slots.h"

#include <pthread.h>

static struct agent_slot chunk[AGENT_SLOTS];
static struct agent_slots slots = {.chunk = {chunk}};
static char some_link;

/* A thread of the program, outside of all constructs, that has called these runtimes. */
static struct agent_slot *add_thread(enum agent_slot_state state, uint32_t runtimes)
{
    struct agent_slot *slot = &chunk[slots.end++];
    *slot = (struct agent_slot){.state = state, .runtimes = runtimes};
    return slot;
}

static struct agent_slot *add_pool_thread(enum agent_slot_state state, enum slot_runtime runtime)
{
    struct agent_slot *slot = add_thread(state, runtime);
    slot->pool = runtime;
    return slot;
}

STEP(begin)
{
    slots.end = 0;
}

static void expect(enum slot_runtime runtime, uint32_t pool, uint32_t others, uint32_t working)
{
    const struct slot_counts counts = slots_count(&slots, runtime);
    assert_int_equal(counts.pool, pool);
    assert_int_equal(counts.others, others);
    assert_int_equal(counts.working, working);
}

static enum agent_thread_status status_of(struct agent_slot *slot, enum slot_runtime runtime)
{
    own_slot = slot;
    return slot_status(runtime);
}

TEST(threads_of_a_pool_always_count)
{
    struct agent_slot *working = add_pool_thread(AGENT_SLOT_WORKING, RUNTIME_GOMP);
    struct agent_slot *waiting = add_pool_thread(AGENT_SLOT_WAITING, RUNTIME_GOMP);
    struct agent_slot *idle = add_pool_thread(AGENT_SLOT_IDLE, RUNTIME_GOMP);
    add_pool_thread(AGENT_SLOT_FREE, RUNTIME_GOMP);
    expect(RUNTIME_GOMP, 3, 0, 1);
    expect(RUNTIME_TBB, 0, 0, 0);
    assert_int_equal(status_of(working, RUNTIME_GOMP), AGENT_WORKING);
    assert_int_equal(status_of(waiting, RUNTIME_GOMP), AGENT_WAITING);
    assert_int_equal(status_of(idle, RUNTIME_GOMP), AGENT_IDLE);
    assert_int_equal(status_of(idle, RUNTIME_TBB), AGENT_FOREIGN);
    assert_int_equal(status_of(NULL, RUNTIME_GOMP), AGENT_FOREIGN);
}

/* In a serial phase it keeps the pool waiting; in pthread_join it does not. */
TEST(a_thread_that_waits_outside_is_no_worker)
{
    struct agent_slot *initial = add_thread(AGENT_SLOT_WORKING, RUNTIME_GOMP);
    add_pool_thread(AGENT_SLOT_IDLE, RUNTIME_GOMP);
    expect(RUNTIME_GOMP, 1, 1, 1);
    initial->state = AGENT_SLOT_WAITING;
    expect(RUNTIME_GOMP, 1, 0, 0);
    assert_int_equal(status_of(initial, RUNTIME_GOMP), AGENT_WAITING);
    initial->state = AGENT_SLOT_IDLE; /* at the end of a region */
    expect(RUNTIME_GOMP, 1, 1, 0);
}

TEST(a_thread_that_waits_in_a_body_is_a_worker_without_work)
{
    struct agent_slot *slots_of[] = {add_thread(AGENT_SLOT_WAITING, RUNTIME_GOMP),
                                     add_thread(AGENT_SLOT_WAITING, RUNTIME_OMPT),
                                     add_thread(AGENT_SLOT_WAITING, RUNTIME_TBB)};
    slots_of[0]->gomp.link = slots_of[1]->ompt.link = slots_of[2]->tbb.link = &some_link;
    expect(RUNTIME_GOMP, 0, 1, 0);
    expect(RUNTIME_OMPT, 0, 1, 0);
    expect(RUNTIME_TBB, 0, 1, 0);
}

/* Each runtime has its own counts. */
TEST(a_thread_in_a_construct_serves_that_runtime_only)
{
    const uint32_t both = RUNTIME_GOMP | RUNTIME_TBB;
    struct agent_slot *slot = add_thread(AGENT_SLOT_WORKING, both);
    expect(RUNTIME_GOMP, 0, 1, 1);
    expect(RUNTIME_TBB, 0, 1, 1);
    slot->gomp.link = &some_link;
    expect(RUNTIME_GOMP, 0, 1, 1);
    expect(RUNTIME_TBB, 0, 0, 0);
    struct agent_slot *worker = add_pool_thread(AGENT_SLOT_WORKING, RUNTIME_TBB);
    worker->runtimes = both;
    expect(RUNTIME_GOMP, 0, 1, 1);
    worker->gomp.link = &some_link; /* a region in a task */
    expect(RUNTIME_GOMP, 0, 2, 2);
    expect(RUNTIME_TBB, 1, 0, 1);
}

/* Who works at that is found by its own samples (agents/gomp/team-starts.h). */
TEST(a_thread_that_starts_a_team_waits_for_it)
{
    struct agent_slot *master = add_thread(AGENT_SLOT_STARTING, RUNTIME_GOMP);
    expect(RUNTIME_GOMP, 0, 1, 0);
    assert_int_equal(status_of(master, RUNTIME_GOMP), AGENT_IDLE);
}

static void *spare_of_this_thread(void *unused)
{
    struct agent_slot *spare = slot_mine();
    assert_int_equal(spare->runtimes, 0);
    slot_join(spare, RUNTIME_TBB);
    assert_ptr_equal(slot_mine(), spare);
    return spare;
}

/* It is the thread's own, as long as the thread lives, and hpcrun's slot takes precedence. */
TEST(a_thread_without_slot_has_a_spare_one)
{
    void *others = NULL;
    pthread_t thread;
    own_slot = NULL;
    struct agent_slot *spare = slot_mine();
    slot_join(spare, RUNTIME_GOMP);
    assert_true(slot_is_spare(&spare->gomp));
    assert_int_equal(pthread_create(&thread, NULL, spare_of_this_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &others), 0);
    assert_ptr_not_equal(others, spare);
    assert_int_equal(slot_mine()->runtimes, RUNTIME_GOMP);
    own_slot = add_thread(AGENT_SLOT_WORKING, 0);
    assert_ptr_equal(slot_mine(), own_slot);
    assert_false(slot_is_spare(&own_slot->tbb));
    assert_true(slot_is_spare(&spare->gomp));
}

EACH_TEST(begin, NULL);
