/* agents/pthread/agent.c: whom it serves, and whom it counts. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/common/thread-slots.h"

extern const struct agent agent_for_threads;

static struct agent_slot chunk[AGENT_SLOTS];
static struct agent_slots slots = {.chunk = {chunk}};
static struct agent_cursor cursor;
static const char *refused; /* NULL: not */
static uint64_t claimed;    /* start of a module that another agent serves */

static bool is_claimed(uint64_t pc)
{
    return pc == claimed;
}

static void refuse(const struct agent *agent, const char *why)
{
    assert_ptr_equal(agent, &agent_for_threads);
    refused = why;
}

static struct agent_slot *add(enum agent_slot_state state)
{
    struct agent_slot *slot = &chunk[slots.end++];
    *slot = (struct agent_slot){.state = state};
    return slot;
}

static int begin(void **state)
{
    static const struct agent_host host = {
        .is_claimed = is_claimed, .refuse = refuse, .slots = &slots};
    slots.end = 0;
    own_slot = add(AGENT_SLOT_WORKING);
    refused = NULL;
    claimed = 0;
    return agent_for_threads.start(&host) ? 0 : -1;
}

static struct agent_module module(const char *path, uint64_t start)
{
    return (struct agent_module){.path = path, .start = start, .end = start + 1};
}

static void expect_service(bool is_served)
{
    assert_int_equal(refused == NULL, is_served);
    assert_int_equal(agent_for_threads.unwind_begin(&cursor),
                     is_served ? AGENT_WORKING : AGENT_FOREIGN);
}

/* While a runtime is there that no agent serves, its threads would count as working. */
TEST(other_runtimes_end_it_until_the_last_one_is_unloaded)
{
    const struct agent_module of_gcc = module("/lib/libgomp.so.1", 10),
                              its_copy = module("/copy/libgomp.so.1", 11),
                              of_llvm = module("/lib/libomp.so.5", 20),
                              unrelated = module("/lib/libgomp.so/libz.so.1", 30),
                              served = module("/copy/libgomp.so.1", 40);
    claimed = served.start;
    agent_for_threads.module_added(&unrelated);
    agent_for_threads.module_added(&served);
    expect_service(true);
    agent_for_threads.module_added(&of_gcc);
    expect_service(false);
    assert_non_null(strstr(refused, "GCC"));
    agent_for_threads.module_added(&its_copy);
    agent_for_threads.module_added(&of_llvm);
    agent_for_threads.module_removed(&unrelated);
    agent_for_threads.module_removed(&served);
    expect_service(false);
    agent_for_threads.module_removed(&of_gcc);
    expect_service(false);
    agent_for_threads.module_removed(&of_llvm);
    expect_service(false);
    agent_for_threads.module_removed(&its_copy);
    expect_service(true);
}

TEST(workers_are_the_threads_of_no_runtime)
{
    add(AGENT_SLOT_FREE);
    add(AGENT_SLOT_CALLING);
    add(AGENT_SLOT_WAITING);
    add(AGENT_SLOT_WORKING)->pool = RUNTIME_TBB;
    struct agent_slot *caller = add(AGENT_SLOT_WORKING);
    caller->runtimes = RUNTIME_GOMP;
    struct agent_worker_counts counts = agent_for_threads.worker_counts(&cursor);
    assert_int_equal(counts.workers, 3);
    assert_int_equal(counts.working, 2);
    own_slot->state = AGENT_SLOT_WAITING;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_WAITING);
    own_slot = caller;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_FOREIGN);
    own_slot = NULL;
    assert_int_equal(agent_for_threads.unwind_begin(&cursor), AGENT_FOREIGN);
}

EACH_TEST(begin, NULL);
