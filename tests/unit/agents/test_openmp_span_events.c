/* agents/openmp/span-events.h, driven by the events that libomp 14 tells, in its order; what hpcrun gets
 * is written down as words. One thread. */
#include "tests/unit/cmocka_suite.h"

#include "agents/common/thread-slots.h"
#include "agents/openmp/body-code.h"
#include "agents/openmp/events.h"
#include "agents/openmp/span-events.h"

#include <stdio.h>
#include <string.h>

/* ---- hpcrun ---- */

static char said[1024];
static const void *last_code, *last_site;

static void say(const char *word)
{
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s%s", n ? " " : "", word);
}

static char region_handle, task_handle;
static bool has_overlap;

static void *region_begins(const void *code, const void *site)
{
    say("region");
    assert_null(code);
    last_site = site;
    return has_overlap ? NULL : &region_handle;
}

static void region_code(void *region, const void *code)
{
    assert_ptr_equal(region, &region_handle);
    last_code = code;
}

static void region_ended(void *region)
{
    assert_ptr_equal(region, &region_handle);
    say("region-end");
}

static void member_begins(void *region)
{
    assert_ptr_equal(region, &region_handle);
    say("member");
}

static void member_ended(void)
{
    say("member-end");
}

static void *created(const void *code, const void *site, unsigned flags)
{
    char word[48];
    snprintf(word, sizeof word, "create%s%s%s", flags & AGENT_TASK_AT_ONCE ? "-at-once" : "",
             flags & AGENT_TASK_FINAL ? "-final" : "",
             flags & AGENT_TASK_ORDERED ? "-ordered" : "");
    if (flags & AGENT_TASK_IN_PARTS)
        strcat(word, "-in-parts");
    say(word);
    last_code = code;
    last_site = site;
    return &task_handle;
}

static void creation_ended(void)
{
    say("go-on");
}

static void task_begins(void *task)
{
    assert_ptr_equal(task, &task_handle);
    say("task");
}

static void task_ended(void)
{
    say("task-end");
}

static void part_ended(void)
{
    say("part-end");
}

static void ended_elsewhere(void *task)
{
    assert_ptr_equal(task, &task_handle);
    say("ended-elsewhere");
}

static const char *const joins[] = {"nothing", "unknown", "children", "group", "team"};

static void waits(enum agent_join what)
{
    say("wait");
    say(joins[what]);
}

static void wait_ended(enum agent_join what)
{
    say("joined");
    say(joins[what]);
}

static void group_begins(void)
{
    say("group");
}

static void cannot_follow(const char *why)
{
    say(why);
}

static const struct agent_tasks hpcrun = {
    .region_begins = region_begins,
    .region_code = region_code,
    .region_ended = region_ended,
    .member_begins = member_begins,
    .member_ended = member_ended,
    .created = created,
    .creation_ended = creation_ended,
    .task_begins = task_begins,
    .task_ended = task_ended,
    .part_ended = part_ended,
    .ended_elsewhere = ended_elsewhere,
    .waits = waits,
    .wait_ended = wait_ended,
    .group_begins = group_begins,
    .cannot_follow = cannot_follow,
};

/* ---- libomp ---- */

static void (*tell_sync_region)(int, int, ompt_data_t *, ompt_data_t *, const void *);
static void (*tell_dependences)(ompt_data_t *, const ompt_dependence_t *, int);
static struct ompt_events tell;
static unsigned registered;

static int set_callback(int which, ompt_callback_t callback)
{
    void *const places[64] = {
        [ompt_callback_parallel_begin] = &tell.parallel_begin,
        [ompt_callback_parallel_end] = &tell.parallel_end,
        [ompt_callback_implicit_task] = &tell.implicit_task,
        [ompt_callback_task_create] = &tell.task_create,
        [ompt_callback_task_schedule] = &tell.task_schedule,
        [ompt_callback_sync_region_wait] = &tell.sync_region_wait,
        [ompt_callback_sync_region] = &tell_sync_region,
        [ompt_callback_mutex_acquire] = &tell.mutex_acquire,
        [ompt_callback_mutex_acquired] = &tell.mutex_acquired,
        [ompt_callback_nest_lock] = &tell.nest_lock,
        [ompt_callback_dependences] = &tell_dependences,
        [ompt_callback_thread_end] = &tell.thread_end,
    };
    registered++;
    if (places[which])
        memcpy(places[which], &callback, sizeof callback);
    return ompt_set_always;
}

/* libomp's code; all else is the program's. */
static const char libomp[64];

static void wrapper(void)
{
}

static void body(void)
{
}

static const void *code_of(void (*function)(void))
{
    const void *code;
    memcpy(&code, &function, sizeof code);
    return code;
}

static bool is_runtime(const void *address)
{
    return address == code_of(wrapper) ||
           ((const char *)address >= libomp && (const char *)address < libomp + sizeof libomp);
}

/* A task as in libomp, within a page, and behind its data what the compiler knows of it. The second word
 * of that is the body. */
struct task {
    _Alignas(256) ompt_frame_t frame;
    ompt_data_t data;
    uint64_t others[8];
    const void *body;
};

/* A team as in libomp. */
static struct {
    const void *body, *invoke;
    ompt_data_t data;
} team;

enum { SWITCH = 7, BARRIER_OF_TEAMS = 10 };

static struct task initial, implicit;
static char frame_of_libomp;
static char site[64]; /* addresses in the program */

static const void *body_code(void)
{
    return code_of(body);
}

static void begin_member(unsigned threads, unsigned number)
{
    memset(&implicit, 0, sizeof implicit);
    tell.implicit_task(ompt_scope_begin, &team.data, &implicit.data, threads, number, 2);
    implicit.frame.exit_frame.ptr = &frame_of_libomp;
}

static void begin_region(unsigned threads)
{
    said[0] = '\0';
    memset(&initial, 0, sizeof initial);
    team.body = body_code();
    team.invoke = threads > 1 ? libomp + 8 : NULL;
    tell.parallel_begin(&initial.data, &initial.frame, &team.data, threads, 0, site);
    begin_member(threads, 0);
}

/* The barrier at the end, in a team of several threads. */
static void end_region(unsigned threads)
{
    implicit.frame.exit_frame.ptr = NULL;
    if (threads > 1)
        tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_begin, &team.data,
                              &implicit.data, site);
    if (threads > 1)
        tell.sync_region_wait(ompt_sync_region_barrier_implicit, ompt_scope_end, NULL,
                              &implicit.data, site);
    tell.implicit_task(ompt_scope_end, NULL, &implicit.data, threads, 0, 2);
    tell.parallel_end(&team.data, &initial.data, 0, site);
}

static void create(struct task *task, struct task *creator, int flags, bool is_ordered,
                   const void *caller)
{
    *task = (struct task){.body = body_code()};
    tell.task_create(&creator->data, &creator->frame, &task->data, ompt_task_explicit | flags,
                     is_ordered, caller);
}

static void begin(struct task *from, struct task *task)
{
    tell.task_schedule(&from->data, SWITCH, &task->data);
}

static void end(struct task *task, struct task *next)
{
    tell.task_schedule(&task->data, ompt_task_complete, &next->data);
}

static void sync(int kind, int endpoint, struct task *task)
{
    tell.sync_region_wait(kind, endpoint, &team.data, &task->data, site);
}

/* ---- tests ---- */

static void a_region(void **state)
{
    (void)state;
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
static void a_body_that_libomp_does_not_know(void **state)
{
    (void)state;
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
static void a_worker(void **state)
{
    (void)state;
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
static void a_worker_that_had_to_wait(void **state)
{
    (void)state;
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

static void a_task_of_a_taskwait(void **state)
{
    (void)state;
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
static void tasks_that_begin_at_once(void **state)
{
    (void)state;
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
static void a_taskloop(void **state)
{
    (void)state;
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
static void a_taskloop_with_many_tasks(void **state)
{
    (void)state;
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

static void what_makes_an_order(void **state)
{
    (void)state;
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
static void parts_of_untied_tasks(void **state)
{
    (void)state;
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
static void parts_in_parts(void **state)
{
    (void)state;
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
static void a_group_in_two_parts(void **state)
{
    (void)state;
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
static void a_last_part_whose_end_is_not_told(void **state)
{
    (void)state;
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

static void events_in_an_order_that_is_not_known(void **state)
{
    (void)state;
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

static void a_region_beside_another_one(void **state)
{
    (void)state;
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
static void leagues(void **state)
{
    (void)state;
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

static void without_work_span_nothing_is_registered(void **state)
{
    (void)state;
    unsigned before = registered;
    span_events_begin(NULL, is_runtime);
    assert_true(span_events_register(set_callback));
    assert_int_equal(registered, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region),
        cmocka_unit_test(a_body_that_libomp_does_not_know),
        cmocka_unit_test(a_worker),
        cmocka_unit_test(a_worker_that_had_to_wait),
        cmocka_unit_test(a_task_of_a_taskwait),
        cmocka_unit_test(tasks_that_begin_at_once),
        cmocka_unit_test(a_taskloop),
        cmocka_unit_test(a_taskloop_with_many_tasks),
        cmocka_unit_test(what_makes_an_order),
        cmocka_unit_test(parts_of_untied_tasks),
        cmocka_unit_test(parts_in_parts),
        cmocka_unit_test(a_group_in_two_parts),
        cmocka_unit_test(a_last_part_whose_end_is_not_told),
        cmocka_unit_test(events_in_an_order_that_is_not_known),
        cmocka_unit_test(a_region_beside_another_one),
        cmocka_unit_test(leagues),
        cmocka_unit_test(without_work_span_nothing_is_registered),
    };
    static struct agent_slot slot = {.state = AGENT_SLOT_WORKING};
    own_slot = &slot;
    body_code_begin(is_runtime);
    span_events_begin(&hpcrun, is_runtime);
    if (!events_register(set_callback) || !span_events_register(set_callback))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
