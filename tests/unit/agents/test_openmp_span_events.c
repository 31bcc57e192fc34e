/* agents/openmp/span-events.h: what hpcrun gets of the events that libomp tells. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/agents/simulated_libomp.h"

TEST(a_region)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        begin_region(threads);
        assert_ptr_equal(last_site, site);
        assert_ptr_equal(last_code, body_code());
        sync(ompt_sync_region_barrier_implicit, ompt_scope_begin, &implicit);
        sync(ompt_sync_region_barrier_implicit, ompt_scope_end, &implicit);
        end_region(threads);
        assert_string_equal(said, "region member wait team joined team member-end region-end");
    }
}

/* `if(0)`: the program calls the body. */
TEST(a_body_that_libomp_does_not_know)
{
    begin_region(1);
    end_region(1);
    tell.parallel_begin(&initial.data, &initial.frame, &team.data, 1, 0, site + 4);
    team.body = NULL;
    begin_member(1, 0);
    assert_ptr_equal(last_code, site + 4);
    end_region(1);
    team.body = code_of(wrapper); /* libomp's, of gcc's bodies */
    tell.parallel_begin(&initial.data, &initial.frame, &team.data, 1, 0, site + 5);
    begin_member(1, 0);
    assert_ptr_equal(last_code, site + 5);
    end_region(1);
}

/* It comes to the end of the region first, executes a task there, and leaves with the next region. */
TEST(a_worker)
{
    struct task task;
    begin_region(2);
    create(&task, &implicit, 0, false, site);
    implicit.frame.exit_frame.ptr = NULL;
    tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_begin, &team.data,
                          &implicit.data, NULL);
    begin(&implicit, &task);
    end(&task, &implicit);
    tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_end, NULL, &implicit.data,
                          NULL);
    assert_string_equal(said, "region member create go-on member-end task task-end");
    tell.implicit_task(ompt_scope_end, NULL, &implicit.data, 0, 1, 2);
    begin_member(2, 1);
    assert_string_equal(said, "region member create go-on member-end task task-end member");
    end_region(2);
}

/* The end comes with a copy of the data of the worker's task. */
TEST(a_worker_that_had_to_wait)
{
    struct task task;
    begin_region(2);
    implicit.frame.exit_frame.ptr = NULL;
    tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_begin, &team.data,
                          &implicit.data, NULL);
    ompt_data_t copy = implicit.data;
    tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_end, NULL, &copy, NULL);
    tell.implicit_task(ompt_scope_end, NULL, &copy, 0, 1, 2);
    assert_string_equal(said, "region member member-end");
    create(&task, &initial, 0, false, site); /* of no member any more */
    assert_string_equal(said, "region member member-end");
}

TEST(a_task_of_a_taskwait)
{
    struct task task;
    begin_region(2);
    create(&task, &implicit, 0, false, site + 1);
    assert_ptr_equal(last_code, body_code());
    assert_ptr_equal(last_site, site + 1);
    sync(ompt_sync_region_taskwait, ompt_scope_begin, &implicit);
    begin(&implicit, &task);
    end(&task, &implicit);
    sync(ompt_sync_region_taskwait, ompt_scope_end, &implicit);
    end_region(2);
    assert_string_equal(said, "region member create go-on wait children task task-end joined "
                              "children member-end region-end");
}

/* In a team of one thread, libomp executes all tasks when they are created, and calls all of them
 * undeferred. A task with if(0) has a frame of the program. */
TEST(tasks_that_begin_at_once)
{
    struct task task;
    begin_region(1);
    create(&task, &implicit, ompt_task_undeferred, false, site);
    begin(&implicit, &task);
    end(&task, &implicit);
    assert_string_equal(said,
                        "region member create go-on wait nothing task task-end joined nothing");
    said[0] = '\0';
    task = (struct task){.frame.exit_frame_flags = ompt_frame_application, .body = body_code()};
    tell.task_create(&implicit.data, &implicit.frame, &task.data,
                     ompt_task_explicit | ompt_task_undeferred, 0, site);
    begin(&implicit, &task);
    end(&task, &implicit);
    assert_int_equal(strncmp(said, "create-at-once go-on", 20), 0);
    said[0] = '\0';
    task = (struct task){.frame.exit_frame.ptr = &frame_of_libomp, .body = body_code()};
    tell.task_create(&implicit.data, &implicit.frame, &task.data,
                     ompt_task_explicit | ompt_task_undeferred, 0, site);
    begin(&implicit, &task);
    end(&task, &implicit);
    create(&task, &implicit, ompt_task_final, true, site);
    assert_string_equal(said, "create-at-once go-on wait nothing task task-end joined nothing "
                              "create-final-ordered go-on");
    begin(&implicit, &task);
    tell.task_schedule(&task.data, ompt_task_early_fulfill, NULL);
    tell.task_schedule(&task.data, ompt_task_detach, &implicit.data);
    end_region(1);
}

/* libomp makes the tasks of a taskloop itself: its group has the place of the program. */
TEST(a_taskloop)
{
    struct task task;
    begin_region(2);
    tell_sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, &team.data, &implicit.data,
                     site + 3);
    create(&task, &implicit, 0, false, libomp + 2);
    assert_ptr_equal(last_site, site + 3);
    sync(ompt_sync_region_taskgroup, ompt_scope_begin, &implicit);
    begin(&implicit, &task);
    end(&task, &implicit);
    sync(ompt_sync_region_taskgroup, ompt_scope_end, &implicit);
    tell_sync_region(ompt_sync_region_taskgroup, ompt_scope_end, &team.data, &implicit.data,
                     site + 3);
    assert_string_equal(said,
                        "region member group create go-on wait group task task-end joined group");
    create(&task, &implicit, 0, false, libomp + 2);
    assert_ptr_equal(last_site, (const char *)body_code() + 1);
    begin(&implicit, &task);
    end(&task, &implicit);
    end_region(2);
}

/* libomp gives half of a taskloop to a task of its own, which creates the others in the name of the
 * creator, in any thread. */
TEST(a_taskloop_with_many_tasks)
{
    struct task half = {.body = code_of(wrapper)}, task;
    begin_region(2);
    tell_sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, &team.data, &implicit.data,
                     site + 3);
    said[0] = '\0';
    tell.task_create(&implicit.data, &implicit.frame, &half.data, ompt_task_explicit, 0,
                     libomp + 2);
    assert_ptr_equal(last_code, body_code()); /* of the region */
    sync(ompt_sync_region_taskgroup, ompt_scope_begin, &implicit);
    begin(&implicit, &half);
    create(&task, &implicit, 0, false, libomp + 2);
    assert_ptr_equal(last_site, site + 3);
    end(&half, &implicit);
    begin(&implicit, &task);
    end(&task, &implicit);
    sync(ompt_sync_region_taskgroup, ompt_scope_end, &implicit);
    tell_sync_region(ompt_sync_region_taskgroup, ompt_scope_end, &team.data, &implicit.data,
                     site + 3);
    assert_string_equal(said, "create go-on wait group task create go-on task-end task task-end "
                              "joined group");
    said[0] = '\0';
    half = (struct task){.body = code_of(wrapper)};
    tell.task_create(&implicit.data, &implicit.frame, &half.data, ompt_task_explicit, 0,
                     libomp + 2);
    assert_string_equal(said, "create-ordered go-on");
    begin(&implicit, &half);
    end(&half, &implicit);
    end_region(2);
}

TEST(what_makes_an_order)
{
    ompt_data_t wait = {0};
    const ompt_dependence_t sink = {.type = ompt_dependence_type_sink}, in = {.type = 1};
    begin_region(2);
    said[0] = '\0';
    tell.task_create(&implicit.data, &implicit.frame, &wait, 0x10, 1, site);
    tell_dependences(&wait, &in, 1);
    tell.task_schedule(&wait, ompt_taskwait_complete, NULL);
    tell.mutex_acquire(ompt_mutex_ordered, 0, 0, 1, site);
    tell.mutex_acquired(ompt_mutex_ordered, 1, site);
    tell_dependences(&implicit.data, &sink, 1);
    assert_string_equal(said,
                        "wait unknown joined unknown wait unknown joined unknown wait unknown "
                        "joined unknown");
    said[0] = '\0';
    tell.mutex_acquire(1, 0, 0, 1, site);
    tell.nest_lock(ompt_scope_begin, 1, site);
    tell.mutex_acquire(ompt_mutex_test_lock, 0, 0, 1, site);
    tell.mutex_acquired(ompt_mutex_test_lock, 1, site);
    assert_string_equal(said, "wait nothing joined nothing");
    end_region(2);
}

/* Any thread executes the next part, and libomp tells the end of the last one as that of the task. */
TEST(parts_of_untied_tasks)
{
    struct task task;
    begin_region(2);
    said[0] = '\0';
    create(&task, &implicit, ompt_task_untied, false, site);
    sync(ompt_sync_region_barrier_explicit, ompt_scope_begin, &implicit);
    begin(&implicit, &task);
    begin(&task, &implicit);
    begin(&implicit, &task);
    end(&task, &implicit);
    sync(ompt_sync_region_barrier_explicit, ompt_scope_end, &implicit);
    assert_string_equal(said,
                        "create-in-parts go-on wait team task part-end task task-end joined team");
    end_region(2);
}

/* In a team of one thread, the call that would queue the task executes its next part. */
TEST(parts_in_parts)
{
    struct task task;
    begin_region(1);
    create(&task, &implicit, ompt_task_untied | ompt_task_undeferred, false, site);
    said[0] = '\0';
    begin(&implicit, &task);
    begin(&task, &implicit);
    begin(&task, &task);
    begin(&task, &task);
    begin(&task, &task);
    end(&task, &implicit);
    assert_string_equal(said,
                        "wait nothing task part-end joined nothing wait nothing task part-end "
                        "joined nothing wait nothing task task-end joined nothing");
    end_region(1);
}

/* A taskgroup begins in one part and ends in another one. */
TEST(a_group_in_two_parts)
{
    struct task task, child;
    begin_region(2);
    create(&task, &implicit, ompt_task_untied, false, site);
    begin(&implicit, &task);
    tell_sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, &team.data, &task.data,
                     site + 3);
    begin(&task, &implicit);
    begin(&implicit, &task);
    create(&child, &task, 0, false, libomp + 2);
    assert_ptr_equal(last_site, site + 3);
    end(&task, &implicit);
    end_region(2);
}

/* This thread executes the last part, and that of an earlier one tells the end, or the other way round. */
TEST(a_last_part_whose_end_is_not_told)
{
    struct task task, other;
    begin_region(2);
    create(&task, &implicit, ompt_task_untied, false, site);
    create(&other, &implicit, 0, false, site);
    sync(ompt_sync_region_taskwait, ompt_scope_begin, &implicit);
    said[0] = '\0';
    begin(&implicit, &task);
    begin(&implicit, &other);
    assert_string_equal(said, "task part-end task");
    end(&other, &implicit);
    said[0] = '\0';
    end(&task, &implicit);
    assert_string_equal(said, "ended-elsewhere");
    create(&task, &implicit, ompt_task_untied, false, site);
    sync(ompt_sync_region_taskgroup, ompt_scope_begin, &implicit);
    begin(&implicit, &task);
    said[0] = '\0';
    ompt_data_t copy = implicit.data;
    tell.sync_region_wait(ompt_sync_region_taskgroup, ompt_scope_end, &team.data, &copy, site);
    assert_string_equal(said, "part-end joined group");
    end_region(2);
}

TEST(events_in_an_order_that_is_not_known)
{
    struct task task, other;
    begin_region(2);
    create(&task, &implicit, 0, false, site);
    create(&other, &implicit, 0, false, site);
    begin(&implicit, &task);
    said[0] = '\0';
    begin(&implicit, &other);
    assert_int_equal(strncmp(said, "libomp reported events", 22), 0);
    end_region(2);
}

TEST(a_region_beside_another_one)
{
    struct task task;
    has_overlap = true;
    begin_region(1);
    create(&task, &implicit, 0, false, site);
    begin(&implicit, &task);
    sync(ompt_sync_region_taskwait, ompt_scope_begin, &task);
    sync(ompt_sync_region_taskwait, ompt_scope_end, &task);
    end(&task, &implicit);
    end_region(1);
    assert_string_equal(said, "region");
    has_overlap = false;
}

/* libomp has a region of its own for a league, and one of one thread in each member of it. */
TEST(leagues)
{
    static struct {
        const void *body, *invoke;
        ompt_data_t data;
    } league;
    struct task master = {0};
    said[0] = '\0';
    last_site = NULL;
    memset(&initial, 0, sizeof initial);
    team.body = body_code();
    team.invoke = NULL;
    tell.parallel_begin(&initial.data, &initial.frame, &league.data, 1, ompt_parallel_league, site);
    tell.implicit_task(ompt_scope_begin, &league.data, &master.data, 2, 0, ompt_task_initial);
    assert_string_equal(said, "region");
    tell.parallel_begin(&master.data, &master.frame, &team.data, 1, 0, libomp + 2);
    begin_member(1, 0);
    assert_ptr_equal(last_site, site);
    assert_ptr_equal(last_code, body_code());
    tell.implicit_task(ompt_scope_end, NULL, &implicit.data, 1, 0, 2);
    tell.parallel_end(&team.data, &master.data, 0, libomp + 2);
    tell.sync_region_wait(BARRIER_OF_TEAMS, ompt_scope_begin, &league.data, &master.data, site);
    tell.sync_region_wait(BARRIER_OF_TEAMS, ompt_scope_end, NULL, &master.data, site);
    tell.implicit_task(ompt_scope_end, NULL, &master.data, 0, 0, ompt_task_initial);
    tell.parallel_end(&league.data, &initial.data, ompt_parallel_league, site);
    assert_string_equal(said, "region member member-end region-end");
}

TEST(without_work_span_nothing_is_registered)
{
    unsigned before = registered;
    span_events_begin(NULL, is_runtime);
    assert_true(span_events_register(set_callback));
    assert_int_equal(registered, before);
}

static int prepare(void **state)
{
    static struct agent_slot slot = {.state = AGENT_SLOT_WORKING};
    own_slot = &slot;
    body_code_begin(is_runtime);
    span_events_begin(&hpcrun, is_runtime);
    if (!events_register(set_callback) || !span_events_register(set_callback))
        return -1;
    return 0;
}

ALL_TESTS(prepare, NULL);
