/* Work and span of regions and tasks: random programs against their graph, and single cases. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/process/process.h"
#include "hpcrun/span/task-paths.h"
#include "hpcrun/span/task-span.h"
#include "hpcrun/span/work-span.h"
#include "tests/unit/hpcrun/simulated_tasks.h"

#include <pthread.h>
#include <sched.h>

struct sampling sampling;

static uint64_t root_site(uint64_t site)
{
    return site;
}

TEST(test_random_programs)
{
    for (int round = 0; round < 200; round++) {
        int members = 1 + round % 4;
        bodies_left = 30;
        struct body *body = make_body(5, (int)random_below(3));
        uint64_t serial = random_below(1 << 20);
        expect_region(body, members, serial);
        execute_program(body, members, serial);
        free_body(body);
        struct span_totals totals = work_span_totals();
        work_span_go_on();
        assert_null(task_span_problem());
        compare_results(totals);
    }
}

/* ---- single cases ---- */

static void strand(uint64_t time)
{
    strand_time = time;
}

/* The sums of a program that is one region of one member, less those before. */
static struct span_totals begin_program(void **region)
{
    self = &records[0];
    strand(0);
    struct span_totals before = work_span_totals();
    work_span_go_on();
    *region = task_span_region_begins(code_of, site_of);
    task_span_member_begins(*region);
    return before;
}

static void check_program(void *region, struct span_totals before, uint64_t work, uint64_t span)
{
    task_span_member_ended();
    task_span_region_ended(region);
    struct span_totals after = work_span_totals();
    work_span_go_on();
    assert_int_equal(after.work.time - before.work.time, work);
    assert_int_equal(after.span.time - before.span.time, span);
}

static void run_task(void *task, uint64_t time)
{
    task_span_task_begins(task);
    strand(time);
    task_span_task_ended();
}

/* A thread that comes first to `single copyprivate` leaves it at once: its children are still its
 * own, to wait for. */
TEST(test_no_barrier_yet)
{
    void *region;
    struct span_totals before = begin_program(&region);
    void *child = task_span_created(code_of, site_of, 0);
    run_task(child, 10);
    task_span_creation_ended();
    strand(1);
    task_span_waits(AGENT_JOIN_TEAM);
    task_span_wait_ended(AGENT_JOIN_NOTHING);
    task_span_waits(AGENT_JOIN_CHILDREN);
    task_span_wait_ended(AGENT_JOIN_CHILDREN);
    strand(2);
    check_program(region, before, 13, 12);
}

/* libomp ends the creation of a task before it leaves the creator, which waits for the task: what is
 * between them comes before the task. */
TEST(test_a_strand_before_a_task_at_once)
{
    void *region;
    struct span_totals before = begin_program(&region);
    strand(4);
    void *child = task_span_created(code_of, site_of, AGENT_TASK_AT_ONCE);
    task_span_creation_ended();
    strand(2);
    task_span_waits(AGENT_JOIN_NOTHING);
    run_task(child, 10);
    task_span_wait_ended(AGENT_JOIN_NOTHING);
    strand(1);
    check_program(region, before, 17, 17);
}

/* A task that never runs, since its region is cancelled, is no work. */
TEST(test_cancelled)
{
    void *region;
    struct span_totals before = begin_program(&region);
    task_span_created(code_of, site_of, 0);
    task_span_creation_ended();
    strand(3);
    check_program(region, before, 3, 3);
}

/* Outside of regions, and in a process that does not measure any more, nothing is observed. */
TEST(test_nothing_to_observe)
{
    self = &records[0];
    assert_null(task_span_created(code_of, site_of, 0));
    task_span_creation_ended();
    task_span_waits(AGENT_JOIN_CHILDREN);
    task_span_wait_ended(AGENT_JOIN_CHILDREN);
    task_span_group_begins();
    assert_false(task_span_is_lower_bound());
}

TEST(test_order_that_is_not_followed)
{
    void *region;
    struct span_totals before = begin_program(&region);
    assert_false(task_span_is_lower_bound());
    run_task(task_span_created(code_of, site_of, AGENT_TASK_ORDERED), 1);
    assert_true(task_span_is_lower_bound());
    task_span_creation_ended();
    check_program(region, before, 1, 1);
}

TEST(test_regions_at_the_same_time)
{
    void *region;
    struct span_totals before = begin_program(&region);
    assert_string_equal(task_span_problem(), "the program ended in a parallel region");
    self = &records[1];
    assert_null(task_span_region_begins(code_of, site_of));
    self = &records[0];
    check_program(region, before, 0, 0);
    assert_string_equal(task_span_problem(),
                        "several threads ran parallel regions at the same time");
}

/* The region's memory must stay: the other member still executes it. */
TEST(test_a_member_that_does_not_end)
{
    void *region;
    begin_program(&region);
    self = &records[1];
    task_span_member_begins(region);
    self = &records[0];
    task_span_member_ended();
    task_span_region_ended(region);
    assert_string_equal(task_span_problem(),
                        "the runtime reported events in an order that is impossible");
    task_span_cannot_follow("later");
    assert_string_equal(task_span_problem(),
                        "the runtime reported events in an order that is impossible");
    self = &records[1];
    assert_null(task_span_created(code_of, site_of, 0));
}

/* Behind the test above: the member's thread executes it, and events are on again. */
TEST(test_two_threads_in_one_task)
{
    task_span_init(BURDEN, root_site);
    self = &records[1];
    void *task = task_span_created(code_of, site_of, AGENT_TASK_IN_PARTS);
    assert_non_null(task);
    task_span_task_begins(task);
    assert_non_null(task_span_created(code_of, site_of, 0));
    task_span_task_begins(task);
    assert_null(task_span_created(code_of, site_of, 0));
}

TEST(test_stopped)
{
    self = &records[0];
    task_span_stop();
    assert_null(task_span_region_begins(code_of, site_of));
}

/* ---- two threads at once ---- */

static struct worker_memory memory_of_member;

static void *arrive(void *member)
{
    task_arrives(member, &memory_of_member);
    return NULL;
}

/* A member of a team that comes to a barrier reads what its children have offered. Children that end
 * meanwhile must wait: the member holds its lock until it has done so, here until it gets the lock
 * of the region. */
TEST(test_children_wait_for_a_member_that_arrives)
{
    struct worker_memory memory = {0};
    struct critical_path longest[KINDS];
    pthread_t thread;
    struct span_region *region = region_new(&memory, CONTEXT_PROGRAM, 0);
    region_set_code(region, 1);
    struct span_task *member = task_new(&memory, region, NULL, 1);
    struct span_task *child = task_new(&memory, region, member, 2);
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&child->path[kind], 10, 1);
    task_finish(child, &memory);
    lock_enter(&region->lock);
    assert_int_equal(pthread_create(&thread, NULL, arrive, member), 0);
    while (atomic_load(&region->lock.state) != LOCK_WAITED_FOR)
        sched_yield();
    assert_int_equal(atomic_load(&member->lock.state), LOCK_HELD);
    lock_leave(&region->lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    task_release(member, &memory);
    region_finish(region, longest, &memory);
    assert_int_equal(longest[PLAIN].length, 10);
}

/* ---- memory ---- */

static int compare_addresses(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Blocks that one thread takes and another one frees come back. */
TEST(test_memory_of_a_producer_and_a_consumer)
{
    enum { BLOCKS = 20000, AT_ONCE = 100, MOST = 1000 };
    static struct worker_memory producer, consumer;
    static void *taken[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        taken[i] = block_take(&producer, 1);
        assert_non_null(taken[i]);
        if (i >= AT_ONCE)
            block_free(&consumer, taken[i - AT_ONCE], 1);
    }
    qsort(taken, BLOCKS, sizeof *taken, compare_addresses);
    int different = 1;
    for (int i = 1; i < BLOCKS; i++)
        different += taken[i] != taken[i - 1];
    assert_in_range(different, AT_ONCE, MOST);
}

static int init(void **state)
{
    self = &records[0];
    if (!work_span_init(BURDEN))
        return -1;
    task_span_init(BURDEN, root_site);
    work_span_go_on();
    return 0;
}

ALL_TESTS(init, NULL);
