/* The agent for Cilk-5: where the path of a computation begins, in the thread that has called it. */
#include "tests/unit/agents/simulated_cilk5.h"

/* The program's frames, innermost first. */
#define MT_F  0x1100
#define SOLVE 0x1200
#define MAIN  0x1300

/* Checks the l-notes of the scheduler's frame in worker 1: `ancestors` of them are in the heap; then come
 * the caller's frames, if there is one. */
static void assert_path(unsigned ancestors, const uint64_t *callers, uint64_t thread)
{
    struct agent_cursor cursor = cursor_of(1);
    const struct agent_frame scheduler = {.pc = SCHEDULER};
    struct agent_lnote note;
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    bool has_notes = ancestors > 0 || callers[0];
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &scheduler), has_notes ? AGENT_1_M : AGENT_1_0);
    for (unsigned i = 0; i < ancestors; i++)
        assert_true(hpcrun_agent.step_lnote(&cursor, &note));
    for (; *callers; callers++) {
        assert_true(hpcrun_agent.step_lnote(&cursor, &note));
        assert_int_equal(note.value, *callers);
        assert_int_equal(note.site, *callers);
    }
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
    assert_int_equal(cursor.owner, thread);
}

static const uint64_t nobody[] = {0};

TEST(paths_go_on_in_the_caller)
{
    set_worker(1, 3, 3);
    set_waiting(2, AGENT_SLOT_WAITING, WAKEUP, (uint64_t[]){RUNTIME, MT_F, SOLVE, MAIN, 0});
    assert_path(2, (uint64_t[]){MT_F, SOLVE, MAIN, 0}, WAITING_THREAD + 2);
}

/* Worker 1 runs the first procedure on top of the runtime's own. */
TEST(the_first_procedure_has_its_caller)
{
    set_worker(1, 0, 3);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, USER, USER, 0});
    set_waiting(0, AGENT_SLOT_WAITING, WAKEUP, (uint64_t[]){MT_F, MAIN, 0});
    assert_path(0, (uint64_t[]){MT_F, MAIN, 0}, WAITING_THREAD);
}

TEST(the_runtimes_main_is_no_caller)
{
    set_worker(1, 3, 3);
    set_waiting(0, AGENT_SLOT_WAITING, WAKEUP, (uint64_t[]){RUNTIME, ENTRY, MAIN, 0});
    assert_path(2, nobody, 0);
}

TEST(other_threads_are_no_callers)
{
    set_worker(1, 3, 3);
    set_waiting(0, AGENT_SLOT_WAITING, RUNTIME, (uint64_t[]){MT_F, 0}); /* an idle worker */
    set_waiting(1, AGENT_SLOT_WAITING, USER, (uint64_t[]){MT_F, 0});
    set_waiting(2, AGENT_SLOT_WORKING, WAKEUP, (uint64_t[]){MT_F, 0}); /* it has waited there before */
    assert_path(2, nobody, 0);
}

TEST(of_two_callers_none_is_taken)
{
    set_worker(1, 3, 3);
    set_waiting(0, AGENT_SLOT_WAITING, WAKEUP, (uint64_t[]){MT_F, 0});
    set_waiting(1, AGENT_SLOT_WAITING, WAKEUP, (uint64_t[]){MT_F, 0});
    assert_path(2, nobody, 0);
}

/* A stack that ends in the runtime, as far as it can be unwound. */
TEST(a_caller_without_frames_is_none)
{
    set_worker(1, 3, 3);
    set_waiting(0, AGENT_SLOT_WAITING, WAKEUP, nobody);
    assert_path(2, nobody, 0);
}

ALL_TESTS(recognize_runtime, NULL);
EACH_TEST(set_up, NULL);
