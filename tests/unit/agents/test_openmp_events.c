/* agents/openmp/events.h, driven by the events that libomp tells, in the order that OpenMP 5 and
 * libomp's source have. One thread: its stack is an array, in which frames lie as libomp's do. */
#include "tests/unit/agents/own_slot.h"
#include "tests/unit/agents/simulated_ompt.h"

#include "agents/common/loaded-modules.h"
#include "agents/common/task-records.h"
#include "agents/openmp/body-code.h"

/* Code of the program, and of libomp. */
static void body(void)
{
}

static void other_body(void)
{
}

static void invoke(void)
{
}

static void (*libomp)(void) = invoke; /* all of its code */

static bool is_runtime(const void *address)
{
    return address == code_of(libomp);
}

enum { INITIAL_THREAD = 1, SWITCH = 7, BARRIER = 1, TASKWAIT = 5, LOCK = 1, CRITICAL = 5 };

/* The thread's stack, which grows to lower indices. A frame of libomp at index i has its caller's
 * frame pointer and a return address at i and i + 1. It is in the frame of main, so that functions
 * which tell events have their frames below it. */
enum { STACK_WORDS = 100 };
static uint64_t *stack;

static void call_libomp(struct task *from, unsigned at)
{
    stack[at] = (uint64_t)&stack[at + 4];
    stack[at + 1] = 0x1000 + at; /* return address */
    from->frame.enter_frame.ptr = &stack[at];
}

static void call_body(struct task *of, unsigned at)
{
    of->frame.exit_frame.ptr = &stack[at];
}

static struct task initial, implicit;

static void begin_region(void)
{
    memset(stack, 0, STACK_WORDS * sizeof *stack);
    memset(&initial, 0, sizeof initial);
    memset(&implicit, 0, sizeof implicit);
    team.body = code_of(body);
    team.invoke = code_of(invoke);
    call_libomp(&initial, 90);
    tell.parallel_begin(&initial.data, &initial.frame, &team.data, 2, 0, NULL);
    tell.implicit_task(ompt_scope_begin, &team.data, &implicit.data, 2, 0, 0);
    call_body(&implicit, 80);
}

static void end_region(void)
{
    tell.implicit_task(ompt_scope_end, NULL, &implicit.data, 0, 0, 0);
    tell.parallel_end(&team.data, &initial.data, 0, NULL);
    assert_null(slot_mine()->ompt.link);
    assert_int_equal(slot_state(slot_mine()), AGENT_SLOT_WORKING);
}

/* `creator` creates a task by a call from index `at` of the stack. */
static struct task create(struct task *creator, unsigned at, int flags)
{
    struct task task = {.body = code_of(other_body)};
    call_libomp(creator, at);
    tell.task_create(&creator->data, &creator->frame, &task.data, ompt_task_explicit | flags, 0,
                     NULL);
    return task;
}

static const struct task_record *record_of(const struct task *task)
{
    return task->data.ptr;
}

static const struct body_link *link(void)
{
    return slot_mine()->ompt.link;
}

TEST(a_task_is_shown_where_it_was_created)
{
    begin_region();
    const struct creation_context *region = link()->context;
    struct task child = create(&implicit, 70, 0);
    assert_int_equal(record_of(&child)->context.pc, 0x1000 + 70);
    assert_int_equal(record_of(&child)->context.parent, region);
    assert_ptr_equal(record_of(&child)->parent, link()->record);

    tell.task_schedule(&implicit.data, SWITCH, &child.data);
    call_body(&child, 60);
    assert_ptr_equal(link()->context, record_of(&child));
    struct task grandchild = create(&child, 50, 0);
    assert_ptr_equal(record_of(&grandchild)->parent, record_of(&child));
    tell.task_schedule(&child.data, ompt_task_complete, &implicit.data);
    assert_ptr_equal(link()->context, region);
    assert_non_null(record_of(&child)->region); /* the grandchild's path continues in it */

    tell.task_schedule(&implicit.data, SWITCH, &grandchild.data);
    tell.task_schedule(&grandchild.data, ompt_task_complete, &implicit.data);
    assert_null(record_of(&child)->region);
    assert_null(record_of(&grandchild)->region);
    end_region();
}

/* libomp tells its end, in whatever thread would have begun it. */
TEST(a_task_that_is_cancelled_before_it_begins_is_not_ready_and_leaves_no_record)
{
    begin_region();
    const struct task_record *parent = NULL;
    for (int i = 0; i < 2; i++) {
        struct task child = create(&implicit, 70, 0);
        parent = record_of(&child)->parent;
        assert_int_equal(ready_children(parent), 1);
        tell.task_schedule(&child.data, i ? ompt_task_cancel : ompt_task_complete, &implicit.data);
        assert_null(record_of(&child)->region);
        assert_int_equal(ready_children(parent), 0);
        assert_ptr_equal(link()->record, parent);
    }
    struct task child = create(&implicit, 70, 0);
    tell.task_schedule(&implicit.data, SWITCH, &child.data);
    tell.task_schedule(&child.data, ompt_task_cancel, &implicit.data); /* it has cancelled its region itself */
    assert_null(record_of(&child)->region);
    assert_ptr_equal(link()->record, parent);
    end_region();
}

/* They are told in no event. */
TEST(links_have_the_code_of_bodies)
{
    begin_region();
    assert_ptr_equal(link()->body, code_of(body));
    struct task child = create(&implicit, 70, 0);
    assert_ptr_equal(record_of(&child)->context.body, code_of(body));
    tell.task_schedule(&implicit.data, SWITCH, &child.data);
    assert_ptr_equal(link()->body, code_of(other_body));
    tell.task_schedule(&child.data, ompt_task_complete, &implicit.data);
    end_region();
}

/* The body that the link of a further member of the team has. */
static const void *body_in_new_member(void)
{
    struct task member = {0};
    tell.implicit_task(ompt_scope_begin, &team.data, &member.data, 2, 0, 0);
    const void *code = (const void *)link()->body;
    tell.implicit_task(ompt_scope_end, NULL, &member.data, 0, 0, 0);
    return code;
}

/* Another version of libomp may have other fields there. */
TEST(what_is_no_code_is_no_body)
{
    static const char data[] = "data";
    begin_region();
    const void *const bodies[] = {NULL, data, code_of(invoke), code_of(body)};
    for (int i = 0; i < 8; i++) {
        team.body = bodies[i / 2];
        team.invoke = i % 2 ? code_of(other_body) : code_of(invoke);
        assert_ptr_equal(body_in_new_member(), i == 6 ? code_of(body) : NULL);
    }
    end_region();
}

/* In gcc's programs, the body is an argument of libomp's function. */
TEST(the_body_may_be_an_argument)
{
    const void *const elsewhere[] = {code_of(body)};
    begin_region();
    team.body = code_of(invoke);
    team.arguments = team.room;
    team.argument_count = 2;
    team.room[0] = code_of(body);
    assert_ptr_equal(body_in_new_member(), code_of(body));
    team.argument_count = 0;
    assert_null(body_in_new_member());
    team.argument_count = 2;
    team.arguments = elsewhere;
    assert_null(body_in_new_member());
    team.arguments = team.room;
    team.invoke = NULL; /* a team of one thread */
    assert_null(body_in_new_member());
    end_region();
}

/* What code is at an address is looked up once, until modules come or go. */
TEST(code_is_looked_up_again_when_modules_change)
{
    begin_region();
    libomp = body; /* and so not `invoke` */
    assert_ptr_equal(body_in_new_member(), code_of(body));
    body_code_forget();
    assert_null(body_in_new_member());
    libomp = invoke;
    body_code_forget();
    assert_ptr_equal(body_in_new_member(), code_of(body));
    end_region();
}

static enum agent_slot_state now(void)
{
    return slot_state(slot_mine());
}

static void switch_tasks(struct task *from, struct task *to)
{
    tell.task_schedule(&from->data, SWITCH, &to->data);
}

static void complete(struct task *task, struct task *left)
{
    tell.task_schedule(&task->data, ompt_task_complete, &left->data);
}

TEST(parts_of_untied_tasks_end)
{
    begin_region();
    const struct body_link *region = link();
    struct task untied = create(&implicit, 70, ompt_task_untied);
    tell.sync_region_wait(TASKWAIT, ompt_scope_begin, &team.data, &implicit.data, NULL);
    for (int part = 0; part < 3; part++) {
        switch_tasks(&implicit, &untied);
        call_body(&untied, 60);
        assert_ptr_equal(link()->context, record_of(&untied));
        assert_int_equal(now(), AGENT_SLOT_WORKING);
        switch_tasks(&untied, &implicit);
        assert_ptr_equal(link(), region);
        assert_int_equal(now(), AGENT_SLOT_IDLE);
    }
    switch_tasks(&implicit, &untied);
    struct task child = create(&untied, 50, 0), other = create(&untied, 50, 0);
    assert_ptr_equal(record_of(&child)->parent, record_of(&untied));
    switch_tasks(&untied, &child); /* it yields */
    assert_ptr_equal(link()->context, record_of(&child));
    complete(&child, &untied);
    complete(&untied, &implicit);
    assert_non_null(record_of(&untied)->region); /* the other one's path continues in it */
    switch_tasks(&implicit, &other);
    complete(&other, &implicit);
    assert_null(record_of(&untied)->region);
    tell.sync_region_wait(TASKWAIT, ompt_scope_end, &team.data, &implicit.data, NULL);
    end_region();
}

/* In a team of one thread, the call at the end of a part executes the next one. */
TEST(parts_of_untied_tasks_on_each_other)
{
    begin_region();
    const struct body_link *region = link();
    struct task untied = create(&implicit, 70, ompt_task_undeferred | ompt_task_untied);
    const struct creation_context *context = &record_of(&untied)->context;
    assert_int_equal(context->kind, CONTEXT_ON_STACK);
    assert_int_equal(context->pc, 0x1000 + 70);
    assert_int_equal(context->up, region);
    switch_tasks(&implicit, &untied);
    switch_tasks(&untied, &implicit);
    for (unsigned part = 0; part < 3; part++) {
        switch_tasks(&untied, &untied);
        call_body(&untied, 60 - 10 * part);
        assert_ptr_equal(link()->context, context);
        assert_false(link()->is_inline);
        assert_ptr_equal(link()->up, region);
        switch_tasks(&untied, &untied);
        assert_ptr_equal(link(), region);
    }
    switch_tasks(&untied, &untied);
    complete(&untied, &implicit);
    end_region();
}

TEST(an_untied_task_with_if_0_is_inline)
{
    begin_region();
    struct task task = {.frame.exit_frame_flags = ompt_frame_application};
    call_libomp(&implicit, 70);
    tell.task_create(&implicit.data, &implicit.frame, &task.data,
                     ompt_task_explicit | ompt_task_undeferred | ompt_task_untied, 0, NULL);
    switch_tasks(&implicit, &task);
    assert_true(link()->is_inline_task);
    complete(&task, &implicit);
    end_region();
}

/* A task of libomp's own creates tasks of a taskloop, in the name of the task that had the loop. */
TEST(split_taskloops)
{
    begin_region();
    const struct creation_context *region = link()->context;
    struct task own = create(&implicit, 70, 0);
    tell.sync_region_wait(TASKWAIT, ompt_scope_begin, &team.data, &implicit.data, NULL);
    switch_tasks(&implicit, &own);
    call_body(&own, 60);
    struct task iteration = create(&implicit, 75, 0);
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    assert_ptr_equal(link()->context, record_of(&own));
    assert_int_equal(record_of(&iteration)->context.kind, CONTEXT_SITE);
    assert_ptr_equal(record_of(&iteration)->parent, record_of(&own));
    complete(&own, &implicit);
    switch_tasks(&implicit, &iteration);
    complete(&iteration, &implicit);
    assert_null(record_of(&own)->region);
    tell.sync_region_wait(TASKWAIT, ompt_scope_end, &team.data, &implicit.data, NULL);

    /* Meanwhile another thread has changed the enter frame: to its own one, or to none. */
    uint64_t elsewhere[4] = {0, 0x5000};
    const void *others[] = {elsewhere, &stack[90], NULL};
    for (int i = 0; i < 3; i++) {
        struct task next = {0};
        memcpy(&implicit.frame.enter_frame.ptr, &others[i], sizeof others[i]);
        tell.task_create(&implicit.data, &implicit.frame, &next.data, ompt_task_explicit, 0, NULL);
        assert_int_equal(record_of(&next)->context.kind, CONTEXT_COPY);
        assert_true(record_of(&next)->context.low < (uint64_t)stack);
        assert_ptr_equal(record_of(&next)->context.parent, region);
        switch_tasks(&implicit, &next);
        complete(&next, &implicit);
    }
    end_region();
}

TEST(an_undeferred_task_runs_where_it_is_created)
{
    begin_region();
    struct task task = create(&implicit, 70, ompt_task_undeferred);
    tell.task_schedule(&implicit.data, SWITCH, &task.data);
    call_body(&task, 60);
    assert_true(link()->is_inline_task);
    struct task child = create(&task, 50, 0);
    /* its frames reach to the region's body */
    assert_ptr_equal(record_of(&child)->parent, link()->up->record);
    tell.task_schedule(&task.data, ompt_task_complete, &implicit.data);
    tell.task_schedule(&implicit.data, SWITCH, &child.data);
    tell.task_schedule(&child.data, ompt_task_complete, &implicit.data);
    end_region();
}

TEST(tasks_that_are_ready)
{
    struct agent_slot *slot = slot_mine();
    const struct agent_slot_team *its = &slot->ompt.team;
    begin_region();
    assert_int_not_equal(its->id, 0);
    struct task child = create(&implicit, 70, 0), ordered = {0};
    tell.task_create(&implicit.data, &implicit.frame, &ordered.data, ompt_task_explicit, 1, NULL);
    assert_int_equal(its->created, 1);
    const struct task_record *creator = link()->record;
    assert_int_equal(creator->created - creator->begun - creator->taken, 1);
    tell.sync_region_wait(TASKWAIT, ompt_scope_begin, &team.data, &implicit.data, NULL);
    assert_int_equal(slot->state, AGENT_SLOT_TASKWAIT);
    const uint32_t waits = slot->ompt.waits.count;
    switch_tasks(&implicit, &child);
    assert_int_equal(its->begun, 1);
    assert_int_equal(creator->created - creator->begun - creator->taken, 0);
    complete(&child, &implicit);
    assert_int_equal(slot->state, AGENT_SLOT_TASKWAIT);
    assert_int_equal(slot->ompt.waits.count, waits + 1);
    switch_tasks(&implicit, &ordered);
    complete(&ordered, &implicit);
    assert_int_equal(its->created - its->begun, 0);
    tell.sync_region_wait(BARRIER, ompt_scope_begin, &team.data, &implicit.data, NULL);
    assert_int_equal(slot->state, AGENT_SLOT_BARRIER);
    end_region();
    assert_int_equal(its->created, 0);
}

TEST(a_thread_that_waits_does_not_work)
{
    begin_region();
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    struct task child = create(&implicit, 70, 0);
    tell.sync_region_wait(TASKWAIT, ompt_scope_begin, &team.data, &implicit.data, NULL);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    tell.task_schedule(&implicit.data, SWITCH, &child.data);
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    tell.task_schedule(&child.data, ompt_task_complete, &implicit.data);
    assert_int_equal(now(), AGENT_SLOT_IDLE); /* for the other tasks */
    tell.sync_region_wait(TASKWAIT, ompt_scope_end, &team.data, &implicit.data, NULL);
    assert_int_equal(now(), AGENT_SLOT_WORKING);

    tell.mutex_acquire(CRITICAL, 0, 0, 1, NULL);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    assert_int_equal(own_slot->lock, 1);
    tell.mutex_acquired(CRITICAL, 1, NULL);
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    assert_int_equal(own_slot->lock, 0);
    assert_int_equal(own_slot->held[0], 1);
    tell_mutex_released(CRITICAL, 1, NULL);
    assert_int_equal(own_slot->held[0], 0);
    tell.mutex_acquire(ompt_mutex_test_lock, 0, 0, 1, NULL); /* returns at once */
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    tell.mutex_acquire(CRITICAL, 0, 0, 1, NULL);
    tell.nest_lock(ompt_scope_begin, 1, NULL);
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    assert_int_equal(own_slot->lock, 0);

    tell.sync_region_wait(BARRIER, ompt_scope_begin, &team.data, &implicit.data, NULL);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    tell.sync_region_wait(BARRIER, ompt_scope_end, &team.data, &implicit.data, NULL);
    end_region();
}

/* libomp 14 does not say that omp_test_lock does not wait. */
extern const char start_of_test_lock[] __asm__("__start_test_lock"), end_of_test_lock[] __asm__("__stop_test_lock");

static __attribute__((noinline, section("test_lock"))) void test_lock_of_14(void)
{
    tell.mutex_acquire(LOCK, 0, 0, 1, NULL);
    __asm__ volatile("");
}

const ElfW(Sym) * dynamic_symbol(const ElfW(Dyn) * dynamic, uint64_t bias, const char *name)
{
    static ElfW(Sym) symbol;
    (void)dynamic;
    symbol.st_value = (uint64_t)start_of_test_lock - bias;
    symbol.st_size = (uint64_t)end_of_test_lock - (uint64_t)start_of_test_lock;
    return strcmp(name, "__kmpc_test_nest_lock") == 0 ? &symbol : NULL;
}

TEST(a_thread_that_tries_a_lock_works)
{
    begin_region();
    test_lock_of_14();
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    tell.mutex_acquired(LOCK, 1, NULL);
    events_learn_libomp(NULL, 1000);
    test_lock_of_14();
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    tell.mutex_acquire(LOCK, 0, 0, 1, NULL);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    tell.mutex_acquired(LOCK, 1, NULL);
    end_region();
}

TEST(a_worker_waits_between_regions)
{
    tell_thread_begin(ompt_thread_worker, NULL);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    struct agent_slot master = {0};
    begin_region();
    struct parallel_region *region = link()->region;
    tell.implicit_task(ompt_scope_end, NULL, &implicit.data, 0, 0, 0);
    region->master = &master; /* the thread is a worker of the region */
    tell.implicit_task(ompt_scope_begin, &team.data, &implicit.data, 2, 1, 0);
    assert_int_equal(now(), AGENT_SLOT_WORKING);
    assert_false(link()->is_inline);
    tell.sync_region_wait(BARRIER, ompt_scope_begin, &team.data, &implicit.data, NULL);
    tell.sync_region_wait(BARRIER, ompt_scope_end, NULL, &implicit.data,
                          NULL); /* at the next one */
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    ompt_data_t copy = implicit.data; /* libomp's, of a worker that had to wait */
    tell.implicit_task(ompt_scope_end, NULL, &copy, 0, 1, 0);
    assert_null(slot_mine()->ompt.link);
    assert_int_equal(now(), AGENT_SLOT_IDLE);
    region->master = slot_mine();
    tell.parallel_end(&team.data, &initial.data, 0, NULL);
}

/* What it does until the process ends is no business of the runtime. */
TEST(a_thread_that_has_ended_serves_no_longer)
{
    tell_thread_begin(INITIAL_THREAD, NULL);
    assert_true(slot_is_of(slot_mine(), RUNTIME_OMPT));
    slot_join(slot_mine(), RUNTIME_TBB);
    tell.thread_end(NULL);
    assert_false(slot_is_of(slot_mine(), RUNTIME_OMPT));
    assert_true(slot_is_of(slot_mine(), RUNTIME_TBB));
}

/* Creating and ending many tasks in any order uses each record once at a time. */
TEST(records_are_used_once_at_a_time)
{
    enum { TASKS = 500 };
    static struct task tasks[TASKS];
    begin_region();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TASKS; i++) {
            tasks[i] = create(&implicit, 70, 0);
            assert_non_null(record_of(&tasks[i]));
            for (int k = 0; k < i; k++)
                assert_ptr_not_equal(record_of(&tasks[i]), record_of(&tasks[k]));
        }
        for (int i = 0; i < TASKS; i++) {
            struct task *task = &tasks[i * 7 % TASKS];
            tell.task_schedule(&implicit.data, SWITCH, &task->data);
            tell.task_schedule(&task->data, ompt_task_complete, &implicit.data);
        }
    }
    end_region();
}

int main(void)
{
    uint64_t frames[STACK_WORDS];
    stack = frames;
    static struct agent_slot slot = {.state = AGENT_SLOT_WORKING};
    own_slot = &slot;
    body_code_begin(is_runtime);
    return events_register(set_callback) ? suite_run() : 1;
}
