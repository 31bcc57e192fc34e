/* libomp 14 as it tells events of regions and tasks, in its order, and hpcrun as it gets them from
 * agents/openmp/span-events.h: what it gets is written down as words in `said`. One thread. */
#ifndef TESTS_UNIT_AGENTS_SIMULATED_LIBOMP_H
#define TESTS_UNIT_AGENTS_SIMULATED_LIBOMP_H

#include "tests/unit/agents/simulated_ompt.h"

#include "agents/common/thread-slots.h"
#include "agents/openmp/body-code.h"
#include "agents/openmp/span-events.h"

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

/* libomp's code; all else is the program's. */
static const char libomp[64];

static void wrapper(void)
{
}

static void body(void)
{
}

static bool is_runtime(const void *address)
{
    return address == code_of(wrapper) ||
           ((const char *)address >= libomp && (const char *)address < libomp + sizeof libomp);
}

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

#endif
