/* agents/common/team-waits.h, agents/common/lock-wakers.h and agents/openmp/lock-owners.h: who ends which wait. The test's
 * one thread plays the master, 0, and the other threads of its team. */
#include "tests/unit/agents/recorded_wakers.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/common/lock-wakers.h"
#include "agents/common/team-waits.h"
#include "agents/openmp/lock-owners.h"

_Atomic bool has_created_threads;

enum { THREADS = 3 };

static struct agent_slot memory[THREADS];
static struct parallel_region region;
static struct body_link implicit;

void hpctoolkit_woken_by(uint64_t thread, uint64_t since)
{
    waker = (int)thread - 1;
    waited_since = since;
}

static struct agent_slot_part *thread(int number)
{
    own_slot = &memory[number];
    return &own_slot->ompt;
}

STEP(begin)
{
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < THREADS; i++) {
        memory[i].number = (uint32_t)i;
        atomic_store(&memory[i].thread, (uint64_t)i + 1);
        thread(i)->team.id = 7;
    }
    implicit = (struct body_link){.context = &region.context, .sp = 1, .region = &region};
    last.object = NULL;
    now = 100;
    waker = -1;
    waited_since = 0;
    has_created_threads = true;
}

/* ---- tasks ---- */

static struct task_record *create(int by, struct body_link *link)
{
    struct task_record *record = record_new(thread(by), link, 0x1000, 0, 0, 0);
    task_created(thread(by), record, true);
    task_offered(record);
    return record;
}

static void begin_task(int by, struct task_record *record)
{
    task_came(thread(by), record->parent);
    task_begun(thread(by), record);
}

static void end_task(int by, struct task_record *record, enum agent_slot_state before)
{
    task_ends(thread(by), record, before);
    record_end(thread(by), record);
}

/* All threads that wait for a task have waited for the first one. */
TEST(the_creator_wakes_those_that_get_tasks)
{
    team_arrives(thread(1));
    team_arrives(thread(2));
    struct task_record *first = create(0, &implicit);
    assert_int_equal(now, 103);
    struct task_record *second = create(0, &implicit);
    assert_int_equal(now, 103);
    begin_task(1, first);
    assert_int_equal(waker, 0);
    assert_int_equal(waited_since, 101);
    waker = -1;
    begin_task(2, second);
    assert_int_equal(waker, 0);
    assert_int_equal(waited_since, 102);
    end_task(1, first, AGENT_SLOT_BARRIER);
    end_task(2, second, AGENT_SLOT_BARRIER);
    record_end(thread(0), implicit.record);
}

TEST(who_finds_a_task_has_not_waited)
{
    struct task_record *first = create(0, &implicit), *second = create(0, &implicit);
    team_arrives(thread(1));
    begin_task(1, first);
    assert_int_equal(waker, -1);
    uint64_t before = now;
    waited_since = 0;
    end_task(1, first, AGENT_SLOT_BARRIER); /* there is one more */
    begin_task(1, second);
    assert_int_equal(now, before);
    assert_int_equal(waited_since, 0);
    end_task(1, second, AGENT_SLOT_BARRIER);
    record_end(thread(0), implicit.record);
}

TEST(the_last_task_ends_a_barrier)
{
    struct task_record *task = create(0, &implicit);
    begin_task(1, task);
    team_arrives(thread(0));
    end_task(1, task, AGENT_SLOT_BARRIER);
    team_goes_on(thread(0));
    assert_int_equal(waker, 1);
    waker = -1;
    team_goes_on(thread(0)); /* said again */
    assert_int_equal(waker, -1);
    record_end(thread(0), implicit.record);
}

TEST(the_last_child_ends_a_wait_for_children)
{
    struct task_record *own = create(0, &implicit), *taken = create(0, &implicit);
    uint64_t before = now;
    begin_task(1, taken);
    children_awaited(thread(0), implicit.record);
    assert_int_equal(now, before); /* one is ready */
    begin_task(0, own);
    end_task(0, own, AGENT_SLOT_TASKWAIT);
    uint64_t since = now;
    struct body_link link = {.context = &taken->context, .sp = 1, .region = &region, .record = taken};
    struct task_record *grandchild = create(1, &link);
    end_task(1, taken, AGENT_SLOT_BARRIER);
    children_ended(thread(0), implicit.record);
    assert_int_equal(waker, 1);
    assert_int_equal(waited_since, since);
    begin_task(1, grandchild);
    end_task(1, grandchild, AGENT_SLOT_BARRIER);
    record_end(thread(0), implicit.record);
}

/* As at the end of a taskgroup. */
TEST(the_last_descendant_ends_a_wait_for_all)
{
    struct task_record *child = create(0, &implicit);
    struct body_link link = {.context = &child->context, .sp = 1, .region = &region, .record = child};
    begin_task(1, child);
    children_awaited(thread(0), implicit.record);
    struct task_record *grandchild = create(1, &link);
    end_task(1, child, AGENT_SLOT_WORKING);
    begin_task(2, grandchild);
    end_task(2, grandchild, AGENT_SLOT_WORKING);
    children_ended(thread(0), implicit.record);
    assert_int_equal(waker, 2);
    record_end(thread(0), implicit.record);
}

TEST(a_team_of_one_thread_does_not_wait)
{
    has_created_threads = false;
    team_starts(&region);
    team_arrives(thread(0));
    team_goes_on(thread(0));
    assert_int_equal(now, 100);
    assert_int_equal(waited_since, 0);
}

/* Nor does one without other threads. */
TEST(who_takes_all_its_children_has_not_waited)
{
    uint64_t before = 0;
    for (int i = 0; i < 2; i++) {
        struct task_record *task = create(0, &implicit);
        before = i ? before : now;
        children_awaited(thread(0), implicit.record);
        begin_task(0, task);
        end_task(0, task, AGENT_SLOT_TASKWAIT);
        children_ended(thread(0), implicit.record);
        has_created_threads = false;
    }
    assert_int_equal(now, before);
    assert_int_equal(waited_since, 0);
    record_end(thread(0), implicit.record);
}

/* ---- locks ---- */

TEST(a_release_is_noted_if_a_thread_waits)
{
    static int lock;
    thread(0);
    lock_released(&lock);
    thread(1);
    uint64_t since = lock_wait_begins(own_slot, &lock);
    assert_int_equal(since, 101);
    thread(0);
    lock_released(&lock);
    thread(1);
    lock_wait_ended(own_slot, &lock, NULL, since);
    assert_int_equal(waker, 0);
    assert_int_equal(waited_since, since);
    lock_released(&lock);
    assert_int_equal(now, 102);
}

static const char *paid_lock;

void hpctoolkit_waited_for_lock(const volatile void *lock, const char *name)
{
    (void)lock;
    assert_int_equal(own_slot->state, AGENT_SLOT_WORKING);
    paid_lock = name;
}

/* The one that has it finds there who waits, and charges the slot; the waiter then pays. */
TEST(a_slot_says_which_lock_its_thread_waits_for)
{
    static int lock;
    thread(1);
    own_slot->holder = 1; /* of a wait that was left by a jump */
    uint64_t since = lock_wait_begins(own_slot, &lock);
    assert_int_equal(own_slot->state, AGENT_SLOT_IDLE);
    assert_int_equal(own_slot->lock, (uint64_t)&lock);
    assert_int_equal(own_slot->holder, 0);
    lock_wait_ended(own_slot, &lock, "its", since);
    assert_int_equal(own_slot->lock, 0);
    assert_null(paid_lock);
    own_slot->is_charged = 1;
    lock_wait_ended(own_slot, &lock, "its", lock_wait_begins(own_slot, &lock));
    assert_string_equal(paid_lock, "its");
}

TEST(a_thread_notes_the_locks_that_it_has)
{
    static int locks[AGENT_MAX_HELD + 1];
    thread(0);
    for (int i = 0; i <= AGENT_MAX_HELD; i++)
        held_note(own_slot, &locks[i]);
    lock_released(&locks[AGENT_MAX_HELD]); /* was not noted */
    lock_released(&locks[1]);
    for (int i = 0; i < AGENT_MAX_HELD; i++)
        assert_int_equal(own_slot->held[i], i == 1 ? 0 : (uint64_t)&locks[i]);
    held_note(own_slot, &locks[0]); /* it is nested */
    lock_released(&locks[0]);
    assert_int_equal(own_slot->held[1], (uint64_t)&locks[0]);
    held_note(NULL, &locks[0]); /* hpcrun does not measure the thread */
}

static void take(int by, uint64_t lock)
{
    waker = -1;
    thread(by);
    lock_wanted(own_slot, lock);
    lock_taken(own_slot, lock);
}

TEST(the_last_owner_wakes_the_next_one)
{
    const uint64_t lock = 0x1234560;
    take(0, lock);
    take(0, lock);
    assert_int_equal(now, 100);
    take(1, lock);
    assert_int_equal(waker, 0);
    assert_int_equal(waited_since, 101);
    take(0, lock);
    assert_int_equal(waker, 1);
    take(0, lock);
    assert_int_equal(now, 102);
}

/* Its owner is not taken for that of the lock, which gets the entry if it is taken often. */
TEST(locks_that_share_an_entry)
{
    const uint64_t lock = 0x1234560;
    uint64_t other = lock + 16;
    while (lock_owner_of(other) != lock_owner_of(lock))
        other += 16;
    take(2, lock);
    take(0, other);
    take(1, lock);
    assert_int_equal(waker, 2);
    for (int i = 0; i < 256; i++)
        take(0, other);
    take(1, other);
    assert_int_equal(waker, 0);
}

EACH_TEST(begin, NULL);
