/* agents/common/ready-tasks.h: which waiting threads are about to take a task. Thread 0 creates the
 * region and its tasks; thread 1 is in its team, thread 2 in another one. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/common/ready-tasks.h"

#include <x86intrin.h>

enum { THREADS = 3 };

static struct agent_slot memory[AGENT_SLOTS];
static struct agent_slots slots;
static struct parallel_region region, other_region;
static struct body_link implicit;

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    memcpy(to, (const void *)address, size);
    return true;
}

static const struct agent_host host = {.read = read_memory, .slots = &slots};

/* The test's one thread plays all of them. */
static struct agent_slot_part *thread(int number)
{
    own_slot = &memory[number];
    return &own_slot->gomp;
}

STEP(begin)
{
    memset(memory, 0, sizeof memory);
    slots.chunk[0] = memory;
    atomic_store(&slots.end, THREADS);
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&memory[i].thread, (uint64_t)i + 1);
        memory[i].number = (uint32_t)i;
        memory[i].pool = RUNTIME_GOMP;
        slot_join(&memory[i], RUNTIME_GOMP);
        slot_set_state(&memory[i], AGENT_SLOT_WORKING);
    }
    team_begin(&memory[0], thread(0), &region);
    team_join(thread(1), region.team);
    team_begin(&memory[2], thread(2), &other_region);
    implicit = (struct body_link){.context = &region.context, .sp = 1, .region = &region};
    thread(0)->link = &implicit;
}

static struct task_record *create(int by, struct body_link *link, bool is_ready)
{
    struct task_record *record = record_new(thread(by), link, 0x1000, 0, 0, 0);
    task_created(thread(by), record, is_ready);
    return record;
}

static bool takes(int number)
{
    return slot_takes_task(&host, NULL, &memory[number], RUNTIME_GOMP);
}

static void wait_at(int number, enum agent_slot_state where)
{
    slot_set_state(&memory[number], where);
}

static uint32_t count(void)
{
    return slots_that_take_tasks(&host, NULL, RUNTIME_GOMP);
}

TEST(any_task_of_the_team_at_a_barrier)
{
    struct task_record *first = create(0, &implicit, true), *second = create(0, &implicit, true);
    wait_at(1, AGENT_SLOT_BARRIER);
    wait_at(2, AGENT_SLOT_BARRIER);
    assert_true(takes(1));
    assert_false(takes(2));
    assert_int_equal(count(), 1);
    task_begun(thread(0), first);
    assert_true(takes(1));
    task_begun(thread(1), second);
    assert_false(takes(1));
    assert_int_equal(count(), 0);
}

/* Each of a number of threads has a task in a team of its own. */
TEST(the_tasks_of_eight_teams_are_counted)
{
    enum { TEAMS = 9 };
    static struct parallel_region regions[TEAMS];
    static struct body_link links[TEAMS];
    for (int i = 0; i < TEAMS; i++) {
        atomic_store(&slots.end, (uint32_t)i + 1);
        atomic_store(&memory[i].thread, (uint64_t)i + 1);
        memory[i].number = (uint32_t)i;
        memory[i].pool = RUNTIME_GOMP;
        slot_join(&memory[i], RUNTIME_GOMP);
        team_begin(&memory[i], thread(i), &regions[i]);
        links[i] =
            (struct body_link){.context = &regions[i].context, .sp = 1, .region = &regions[i]};
        thread(i)->link = &links[i];
        create(i, &links[i], true);
        wait_at(i, AGENT_SLOT_BARRIER);
        assert_int_equal(count(), i < 8 ? i + 1 : 8);
    }
}

TEST(a_working_thread_takes_none)
{
    create(0, &implicit, true);
    assert_int_equal(count(), 0);
    wait_at(0, AGENT_SLOT_IDLE);
    wait_at(1, AGENT_SLOT_ASLEEP);
    assert_int_equal(count(), 0);
}

TEST(children_in_a_wait_for_tasks)
{
    struct task_record *task = create(0, &implicit, true);
    struct body_link link = {
        .up = &implicit, .context = &task->context, .sp = 1, .region = &region, .record = task};
    task_begun(thread(1), task);
    thread(1)->link = &link;
    create(0, &implicit, true); /* no child of the task */
    wait_at(1, AGENT_SLOT_TASKWAIT);
    assert_false(takes(1));
    struct task_record *own = create(1, &link, true), *stolen = create(1, &link, true);
    assert_true(takes(1));
    task_begun(thread(1), own);
    assert_true(takes(1));
    task_begun(thread(0), stolen);
    assert_int_equal(task->taken, 1);
    assert_false(takes(1));
    wait_at(1, AGENT_SLOT_BARRIER);
    assert_true(takes(1));
}

TEST(tasks_with_dependences_are_not_ready)
{
    struct task_record *task = create(0, &implicit, false);
    wait_at(0, AGENT_SLOT_TASKWAIT);
    wait_at(1, AGENT_SLOT_BARRIER);
    assert_int_equal(count(), 0);
    task_begun(thread(1), task);
    assert_int_equal(count(), 0);
    create(0, &implicit, true);
    create(0, &implicit, true);
    assert_int_equal(count(), 2);
}

TEST(as_many_threads_as_tasks)
{
    wait_at(0, AGENT_SLOT_BARRIER);
    wait_at(1, AGENT_SLOT_BARRIER);
    create(0, &implicit, true);
    assert_int_equal(count(), 1);
    assert_true(takes(0));
    assert_false(takes(1));
    create(0, &implicit, true);
    assert_int_equal(count(), 2);
    assert_true(takes(1));
}

TEST(a_region_within_the_region)
{
    struct parallel_region inner;
    create(0, &implicit, true);
    wait_at(0, AGENT_SLOT_BARRIER);
    assert_true(takes(0));
    team_begin(&memory[0], thread(0), &inner);
    assert_int_not_equal(inner.team, region.team);
    assert_false(takes(0));
    team_end(thread(0), &inner);
    assert_true(takes(0));
}

TEST(cancelled_tasks_are_not_ready)
{
    create(0, &implicit, true);
    tasks_cancelled(thread(0));
    wait_at(0, AGENT_SLOT_TASKWAIT);
    wait_at(1, AGENT_SLOT_BARRIER);
    assert_int_equal(count(), 0);
    create(0, &implicit, true);
    assert_int_equal(count(), 0);
}

/* Until the next look at how often a thread has waited. */
static void let_time_pass(void)
{
    const uint64_t begin = __rdtsc();
    while (__rdtsc() - begin < 1 << 22)
        _mm_pause();
}

TEST(waits_that_are_short)
{
    create(0, &implicit, true);
    wait_for_tasks(&memory[1], thread(1));
    assert_false(takes(1)); /* the first look */
    for (int look = 0; look < 3; look++) {
        for (int i = 0; i < 100; i++)
            wait_for_tasks(&memory[1], thread(1));
        let_time_pass();
        assert_true(takes(1));
        assert_true(takes(1));
    }
    wait_for_tasks(&memory[1], thread(1));
    let_time_pass();
    assert_false(takes(1)); /* it waited once */
    let_time_pass();
    assert_false(takes(1)); /* it still waits */
}

TEST(short_waits_without_a_ready_task)
{
    wait_for_tasks(&memory[1], thread(1));
    takes(1);
    for (int i = 0; i < 100; i++)
        wait_for_tasks(&memory[1], thread(1));
    let_time_pass();
    assert_false(takes(1));
    create(0, &implicit, true);
    assert_true(takes(1));
}

EACH_TEST(begin, NULL);
