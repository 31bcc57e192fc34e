/* agents/tbb/tbb-tasks.c; this test is the program above it and the libtbb below it. Its one thread
 * plays all threads: it changes its slot. */
#include "tests/unit/agents/recorded_wakers.h"
#include "tests/unit/cmocka_suite.h"

#include "agents/tbb/task-contexts.h"
#include "agents/tbb/tbb-copies.h"
#include "agents/tbb/thread-limit.h"

static struct agent_slot threads[2];
static struct tbb_wait inner, outer; /* of calls that wait */

static void become(int thread)
{
    own_slot = &threads[thread];
}

/* -------- the program -------- */

typedef struct tbb_object *task_function(struct tbb_object *task, void *execution);

struct task {
    struct tbb_object object;
    struct tbb_object *next; /* that its body returns */
    uint32_t queue_length;   /* of the thread, in the body */
};

static struct tbb_object *body(struct tbb_object *object, void *execution)
{
    struct task *task = (struct task *)object;
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_WORKING);
    task->queue_length = queue_length(own_slot);
    return task->next;
}

static const struct {
    uintptr_t prefix[TABLE_PREFIX];
    void *destructors[2];
    task_function *execute, *cancel;
} table = {.execute = body, .cancel = body};

static struct task new_task(void)
{
    return (struct task){.object.table = (const uintptr_t *)table.destructors};
}

/* -------- libtbb -------- */

static struct tbb_object *run(struct task *task)
{
    task_function *execute = (task_function *)task->object.table[TASK_EXECUTE];
    assert_ptr_not_equal(execute, body);
    return execute(&task->object, NULL);
}

static void spawn(struct tbb_object *task, void *group)
{
}

static void submit(struct tbb_object *task, void *group, void *arena, uintptr_t is_critical)
{
}

static void enqueue(struct tbb_object *task, void *arena)
{
}

/* What the next call of libtbb that waits does. */
static void (*while_waiting)(void);
static void *waits_for; /* what it was called with */

static void wait_for_tasks(void *wait, void *group)
{
    waits_for = wait;
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_IDLE);
    while_waiting();
}

static void notify_waiters(uintptr_t wait)
{
}

static void execute(void *arena, struct tbb_object *delegate)
{
    while_waiting();
}

static void suspend(void *callback, void *argument)
{
    while_waiting();
}

/* The controls of the number of threads that stand. */
static struct tbb_control *controls[2];

static size_t active_value(int parameter)
{
    size_t least = SIZE_MAX;
    assert_int_equal(parameter, CONTROL_PARALLELISM);
    for (int i = 0; i < 2; i++)
        if (controls[i] && controls[i]->value < least)
            least = controls[i]->value;
    assert_true(least < SIZE_MAX); /* libtbb would keep its default from here on */
    return least;
}

static void create_control(struct tbb_control *control)
{
    if (control->parameter == CONTROL_PARALLELISM)
        controls[controls[0] != NULL] = control;
}

static void destroy_control(struct tbb_control *control)
{
    for (int i = 0; i < 2; i++)
        if (controls[i] == control)
            controls[i] = NULL;
}

const struct tbb_functions *tbb_functions_for(uint64_t caller)
{
    static const struct tbb_functions functions = {.spawn = spawn,
                                                   .submit = submit,
                                                   .enqueue = enqueue,
                                                   .suspend = suspend,
                                                   .wait = wait_for_tasks,
                                                   .notify_waiters = notify_waiters,
                                                   .execute = execute,
                                                   .create_control = create_control,
                                                   .destroy_control = destroy_control,
                                                   .active_value = active_value};
    return &functions;
}

/* -------- tests -------- */

STEP(begin)
{
    for (int i = 0; i < 2; i++) {
        memset(&threads[i], 0, sizeof threads[i]);
        threads[i].number = (uint32_t)i;
        threads[i].state = AGENT_SLOT_WORKING;
    }
    become(0);
    waker = -1;
    now = 100;
    waited_since = 0;
    inner.references = outer.references = 1;
    tbb_threads = 2;
}

static void make_worker(int thread)
{
    threads[thread].pool = RUNTIME_TBB;
    threads[thread].runtimes = RUNTIME_TBB;
    threads[thread].state = AGENT_SLOT_IDLE;
}

TEST(a_spawned_task_is_queued_until_it_begins)
{
    struct task first = new_task(), second = new_task();
    tbb_spawn(&first.object, NULL);
    tbb_spawn(&second.object, NULL);
    assert_int_equal(queue_length(own_slot), 2);
    run(&second);
    assert_int_equal(second.queue_length, 1);
    run(&first);
    assert_int_equal(first.queue_length, 0);
    assert_int_equal(queue_length(own_slot), 0);
}

TEST(a_stolen_task_is_in_no_queue)
{
    struct task task = new_task();
    tbb_spawn(&task.object, NULL);
    become(1);
    run(&task);
    assert_int_equal(queue_length(&threads[0]), 0);
    assert_int_equal(queue_length(&threads[1]), 0);
    assert_int_equal(threads[1].tasks.begun, 0);
}

TEST(a_task_that_another_one_returns_is_next)
{
    struct task first = new_task(), second = new_task();
    first.next = &second.object;
    tbb_spawn(&first.object, NULL);
    assert_ptr_equal(run(&first), &second);
    assert_int_equal(queue_length(own_slot), 1);
    run(&second);
    assert_int_equal(second.queue_length, 0);
}

TEST(a_submitted_task_is_in_no_threads_queue)
{
    struct task task = new_task();
    tbb_submit(&task.object, NULL, NULL, 0);
    assert_int_equal(queue_length(own_slot), 0);
    run(&task);
    task = new_task();
    tbb_enqueue(&task.object, NULL);
    assert_int_equal(queue_length(own_slot), 0);
    run(&task);
    assert_int_equal(queue_length(own_slot), 0);
}

static uint32_t length_inside;

static void look(void)
{
    length_inside = queue_length(&threads[0]);
}

static void look_and_go_on_in_another_thread(void)
{
    look();
    become(1);
}

/* A task may be suspended in the arena, and be resumed by another thread. */
TEST(tasks_outside_of_an_arena_cannot_be_taken_inside)
{
    void (*const ways[])(void) = {look, look_and_go_on_in_another_thread};
    for (int i = 0; i < 2; i++) {
        struct task task = new_task();
        struct tbb_object delegate = {0};
        become(0);
        tbb_spawn(&task.object, NULL);
        while_waiting = ways[i];
        tbb_execute(NULL, &delegate);
        assert_int_equal(length_inside, 0);
        assert_int_equal(queue_length(&threads[0]), 1);
        become(0);
        run(&task);
        assert_int_equal(queue_length(&threads[0]), 0);
    }
}

static struct task queued;

static struct tbb_object *wait_inside(struct tbb_object *task, void *execution)
{
    while_waiting = look;
    tbb_wait(&inner, NULL);
    assert_ptr_equal(waits_for, &inner);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_WORKING);
    return NULL;
}

static void run_queued(void)
{
    run(&queued);
    assert_ptr_equal(own_slot->tbb.own, &outer);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_IDLE);
}

static void run_with_body(task_function *function)
{
    uintptr_t own[TABLE_PREFIX + TABLE_FUNCTIONS];
    memcpy(own, &table, sizeof own);
    own[TABLE_PREFIX + TASK_EXECUTE] = (uintptr_t)function;
    queued = new_task();
    queued.object.table = own + TABLE_PREFIX;
    tbb_spawn(&queued.object, NULL);
    while_waiting = run_queued;
    tbb_wait(&outer, NULL);
    assert_null(own_slot->tbb.own);
}

/* The slot says for what the thread waits: the innermost call. */
TEST(a_wait_in_a_task_in_a_wait)
{
    run_with_body(wait_inside);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_WORKING);
}

static void no_link(void)
{
    assert_null(own_slot->tbb.link);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_IDLE);
}

/* The thread executes other tasks meanwhile, which are not in this one. */
static struct tbb_object *suspend_inside(struct tbb_object *task, void *execution)
{
    const void *link = own_slot->tbb.link;
    assert_non_null(link);
    while_waiting = no_link;
    tbb_suspend(NULL, NULL);
    assert_ptr_equal(own_slot->tbb.link, link);
    return NULL;
}

TEST(a_suspended_task_is_left_and_resumed)
{
    run_with_body(suspend_inside);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_WORKING);
}

/* libtbb's own threads call its functions, too. */
TEST(a_wait_ends_in_the_state_in_which_it_began)
{
    make_worker(0);
    run_with_body(body);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_IDLE);
}

/* The frames of its creator were on this thread's stack, which may have ended when the task runs. */
TEST(a_context_names_the_thread_of_its_frames)
{
    struct task first = new_task(), second = new_task();
    make_worker(0);
    own_slot->thread = 70;
    tbb_spawn(&first.object, NULL);
    own_slot->thread = 71;
    tbb_spawn(&second.object, NULL);
    run(&first);
    assert_int_equal(task_of(record_kept(own_slot))->context->context.thread, 70);
    run(&second);
}

/* It shows where a worker is that takes the next one. */
TEST(the_context_of_the_last_task_is_kept_while_there_are_more)
{
    struct task first = new_task(), second = new_task();
    make_worker(0);
    tbb_spawn(&first.object, NULL);
    tbb_spawn(&second.object, NULL);
    run(&second);
    assert_int_equal(slot_state(own_slot), AGENT_SLOT_IDLE);
    assert_non_null(record_kept(own_slot));
    assert_non_null(task_of(record_kept(own_slot))->context);
    run(&first);
    assert_null(record_kept(own_slot));
}

TEST(a_thread_of_the_program_keeps_none)
{
    struct task first = new_task(), second = new_task();
    tbb_spawn(&first.object, NULL);
    tbb_spawn(&second.object, NULL);
    run(&second);
    assert_null(record_kept(own_slot));
    run(&first);
}

/* ---- wakers ---- */

/* The worker 1 ends a task, and has waited since then. */
static void let_worker_wait(void)
{
    struct task task = new_task();
    make_worker(1);
    become(1);
    tbb_spawn(&task.object, NULL);
    run(&task);
    assert_int_equal(waker, -1);
    become(0);
}

TEST(the_first_task_of_a_queue_wakes_its_thief)
{
    struct task first = new_task(), second = new_task();
    let_worker_wait();
    uint64_t since = now;
    tbb_spawn(&first.object, NULL);
    tbb_spawn(&second.object, NULL);
    assert_int_equal(last.time, since + 1);
    become(1);
    run(&first);
    assert_int_equal(waker, 0);
    assert_int_equal(waited_since, since);
    run(&second);
    assert_int_equal(waker, -1); /* it was there */
}

TEST(a_task_of_an_arena_wakes_who_takes_it)
{
    struct task first = new_task(), second = new_task();
    let_worker_wait();
    tbb_enqueue(&first.object, NULL);
    become(1);
    run(&first);
    assert_int_equal(waker, 0);
    become(0);
    tbb_submit(&second.object, NULL, NULL, 0);
    become(1);
    waker = -1;
    run(&second);
    assert_int_equal(waker, 0);
}

static void end_last_task_elsewhere(void)
{
    become(1);
    tbb_notify_waiters((uintptr_t)&outer);
    become(0);
}

static void end_last_task_itself(void)
{
    tbb_notify_waiters((uintptr_t)&outer);
}

static struct task stolen;

static void steal_and_end_it(void)
{
    become(1);
    run(&stolen);
    end_last_task_elsewhere();
}

TEST(the_last_task_wakes_who_waits_for_all)
{
    make_worker(1);
    while_waiting = end_last_task_elsewhere;
    tbb_wait(&outer, NULL);
    assert_int_equal(waker, 1);
    assert_int_equal(waited_since, 101);
}

/* It does not look at the clock while its queue has tasks; who takes the last one does. */
TEST(a_wait_begins_when_the_last_task_is_stolen)
{
    make_worker(1);
    stolen = new_task();
    tbb_spawn(&stolen.object, NULL);
    uint64_t spawned = now;
    while_waiting = steal_and_end_it;
    tbb_wait(&outer, NULL);
    assert_int_equal(waker, 1);
    assert_int_equal(waited_since, spawned + 1);
}

/* A look at the clock takes as long as all the rest. */
TEST(a_thread_that_runs_its_own_tasks_does_not_look_at_the_clock)
{
    outer.references = 0;
    run_with_body(body);
    while_waiting = end_last_task_itself;
    tbb_wait(&outer, NULL);
    assert_int_equal(now, 101); /* of the first task */
    tbb_threads = 1;
    outer.references = 1;
    run_with_body(body);
    assert_int_equal(now, 101);
}

static void do_nothing(void)
{
}

/* What was stolen before has nothing to do with a wait. */
TEST(a_thread_that_did_not_wait_was_not_woken)
{
    struct task left = new_task();
    make_worker(1);
    stolen = new_task();
    tbb_spawn(&stolen.object, NULL);
    become(1);
    run(&stolen);
    tbb_notify_waiters((uintptr_t)&outer);
    become(0);
    tbb_spawn(&left.object, NULL);
    while_waiting = do_nothing;
    tbb_wait(&outer, NULL);
    assert_int_equal(waited_since, 0);
    run(&left);
    assert_int_equal(waited_since, 0);
}

TEST(the_limit_is_that_of_the_controls_that_stand)
{
    struct tbb_control four = {.value = 4}, two = {.value = 2},
                       stack = {.value = 9, .parameter = 1};
    tbb_create_control(&four);
    assert_int_equal(tbb_thread_limit, 4);
    tbb_create_control(&two);
    tbb_create_control(&stack);
    assert_int_equal(tbb_thread_limit, 2);
    tbb_destroy_control(&stack);
    tbb_destroy_control(&two);
    assert_int_equal(tbb_thread_limit, 4);
    tbb_destroy_control(&four);
    assert_int_equal(tbb_thread_limit, 0);
}

EACH_TEST(begin, NULL);
