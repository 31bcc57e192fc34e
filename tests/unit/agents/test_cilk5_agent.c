/* The agent for Cilk-5: call paths of workers, in every window that agents/cilk5/agent.c names, and
 * native ones. */
#include "tests/unit/agents/simulated_cilk5.h"

/* Collects the l-notes of the scheduler's frame; returns their number. */
static unsigned notes_of(struct agent_cursor *cursor, uint64_t *values)
{
    const struct agent_frame scheduler = {.pc = SCHEDULER};
    struct agent_lnote note;
    unsigned count = 0;
    enum agent_association association = hpcrun_agent.step_bichord(cursor, &scheduler);
    while (association == AGENT_1_M && hpcrun_agent.step_lnote(cursor, &note)) {
        assert_int_equal(note.space, AGENT_CODE);
        if (hpctoolkit_cilk5.magic)
            assert_int_equal(note.site, note.value + 5);
        else
            assert_int_equal(note.site, 0);
        values[count++] = note.value;
    }
    assert_int_equal(association, count ? AGENT_1_M : AGENT_1_0);
    return count;
}

/* Asserts that the worker works and that its l-notes are closures `above`, ..., 1. */
static void assert_works(unsigned self, unsigned above)
{
    uint64_t values[CLOSURES];
    struct agent_cursor cursor = cursor_of(self);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    assert_int_equal(notes_of(&cursor, values), above);
    for (unsigned i = 0; i < above; i++)
        assert_int_equal(values[i], address(user_code + (above - i) * 16));
}

TEST(ancestors_of_the_base_are_l_notes)
{
    set_worker(1, 3, 3);
    assert_works(1, 2);
    set_worker(1, 4, 4);
    assert_works(1, 3);
}

TEST(stolen_frames_are_on_the_stack_still)
{
    set_worker(2, 2, 5);
    assert_works(2, 1);
}

TEST(the_root_and_cilk_main_have_no_ancestors)
{
    set_worker(0, 1, 1);
    assert_works(0, 0);
    set_worker(0, 0, 3);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, USER, USER, 0});
    assert_works(0, 0);
}

TEST(bichords_beside_the_scheduler)
{
    struct agent_cursor cursor = cursor_of(1);
    struct agent_frame frame = {.pc = RUNTIME};
    set_worker(1, 3, 3);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
    assert_true(cursor.include_libc);
    frame.pc = IMPORT;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
    assert_false(cursor.include_libc);
    frame.pc = SCHEDULER;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_M);
    frame.pc = CHILD;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_M_0);
    frame.pc = LIBC;
    assert_true(hpcrun_agent.step_pnote(&cursor, &frame));
}

/* Cilk_set_result has cleared the frame of a closure that gives its result; the memory is
 * reused. */
TEST(a_slow_clone_that_returns)
{
    set_worker(1, 3, 3);
    image.closures[3].status = RETURNING;
    image.closures[3].frame = 0;
    image.stacks[1][0] = 1;
    assert_works(1, 2);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, RUNTIME, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
}

/* The exception handler has made the closure RETURNING; the stack unwinds down to closure 2's. */
TEST(the_return_cascade_after_a_theft)
{
    set_worker(1, 2, 4);
    image.closures[4].status = RETURNING;
    image.closures[4].frame = 1;
    assert_works(1, 1);
}

/* A thief promotes the worker's innermost closure, as promote_child and finish_promote do. */
static void promote(unsigned parent)
{
    struct closure *child = &image.closures[parent + 1];
    child->parent = address(&image.closures[parent]);
    child->cache = address(&image.workers[1]);
    child->status = RUNNING;
    image.deques[1].bottom = address(child);
    image.closures[parent].cache = 0;
    image.closures[parent].status = READY;
}

static void one_theft(void)
{
    promote(3);
}

static void two_thefts(void)
{
    promote(3);
    promote(4);
}

TEST(a_thief_comes_before_any_read)
{
    set_up(state);
    set_worker(1, 3, 3);
    assert_works(1, 2);
    unsigned most = reads;
    void (*const thieves[])(void) = {one_theft, two_thefts};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned at = 1; at <= most; at++) {
            set_up(state);
            set_worker(1, 3, 3);
            thief = thieves[i];
            thief_at = at;
            assert_works(1, 2);
        }
}

/* Read number `at` fails: the reported ancestors are right, or the thread is not working. */
static bool works_without_read(unsigned at)
{
    const struct agent_frame scheduler = {.pc = SCHEDULER};
    struct agent_cursor cursor = cursor_of(1);
    struct agent_lnote note;
    unreadable_read = at;
    if (hpcrun_agent.unwind_begin(&cursor) != AGENT_WORKING)
        return false;
    unsigned told = 0;
    hpcrun_agent.worker_counts(&cursor);
    if (hpcrun_agent.step_bichord(&cursor, &scheduler) == AGENT_1_M)
        while (hpcrun_agent.step_lnote(&cursor, &note))
            assert_int_equal(note.value, address(user_code + (2 - told++) * 16));
    assert_true(told <= 2);
    return true;
}

TEST(reads_that_fail)
{
    unsigned working = 0;
    for (unsigned at = 1; at < 60; at++) {
        set_up(state);
        set_worker(1, 3, 3);
        working += works_without_read(at);
    }
    assert_true(working > 0 && working < 59);
}

/* In a thread that is no worker, claimed frames are native. */
TEST(other_threads_have_native_paths)
{
    struct agent_cursor cursor = cursor_of(WORKERS);
    const struct agent_frame frame = {.pc = IMPORT};
    struct agent_lnote note;
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_1);
    assert_true(hpcrun_agent.step_lnote(&cursor, &note));
    assert_int_equal(note.value, IMPORT);
    assert_int_equal(note.site, IMPORT);
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
}

/* The closure that an ancestor spawned has the ancestor's site, at the offset that the patch
 * gives. */
TEST(the_patch_tells_sites_and_the_count)
{
    const struct agent_module module = this_module();
    hpcrun_agent.module_removed(&module);
    hpctoolkit_cilk5.magic = HPCTOOLKIT_CILK5_MAGIC;
    hpctoolkit_cilk5.site_in_closure = offsetof(struct closure, site);
    hpctoolkit_cilk5.working = 2;
    hpcrun_agent.module_added(&module);
    set_up(state);
    set_worker(1, 4, 4);
    assert_works(1, 3);
    assert_int_equal(counts_in(1).working, 2);
    assert_int_equal(counts_in(WORKERS).working, 2);
    assert_int_equal(counts_in(WORKERS).workers, WORKERS);
}

ALL_TESTS(recognize_runtime, NULL);
EACH_TEST(set_up, NULL);
