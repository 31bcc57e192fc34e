/* Work and span of random programs of regions and tasks, executed by simulated threads with a
 * simulated clock, against the longest path in an explicit graph of all strands and all that they
 * wait for. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/process/process.h"
#include "hpcrun/span/task-paths.h"
#include "hpcrun/span/task-span.h"
#include "hpcrun/span/work-span.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
    BURDEN = 5000,
    PROCEDURES = 4,
    SITES = 2,
    MAX_STEPS = 16,
    MAX_CONTEXTS = 4096,
    MAX_THREADS = 256,
    MAX_VERTICES = 1 << 16,
    MAX_ENDS = 1 << 12
};

struct sampling sampling;

/* ---- the simulated clock and threads: the one whose event comes next has executed a strand ---- */

static uint64_t strand_time;

void strand_clock_calibrate(void)
{
}

void strand_begin(struct strand_clock *clock)
{
    (void)clock;
}

uint64_t strand_end(struct strand_clock *clock)
{
    (void)clock;
    uint64_t time = strand_time;
    strand_time = 0;
    return time;
}

uint64_t strand_next(struct strand_clock *clock)
{
    return strand_end(clock);
}

void strand_clock_set_event_cost(uint64_t ticks)
{
    (void)ticks;
}

static struct task_thread records[MAX_THREADS], *self;

struct task_thread *task_thread_mine(void)
{
    if (!self->tally)
        self->tally = span_tally_new();
    return self;
}

struct task_thread *task_thread_existing(void)
{
    return self;
}

uint64_t task_threads_work(void)
{
    uint64_t work = 0;
    for (int i = 0; i < MAX_THREADS; i++)
        work += records[i].work;
    return work;
}

static uint64_t root_site(uint64_t site)
{
    return site;
}

/* ---- random programs ---- */

/* Its low bits are random, too: the scheduler must not repeat itself. */
static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 1;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16) % limit;
}

enum kind { NOTHING, CREATE, MANY, WAIT, GROUP, GROUP_END, BARRIER, REGION };

/* Strands of time[i], each followed by steps[i] or by the end. */
struct body {
    const void *code, *site;
    int n;
    uint64_t time[MAX_STEPS + 1];
    struct step {
        enum kind kind;
        unsigned flags;
        int count;          /* MANY: tasks; REGION: members */
        struct body *child; /* of all of them */
    } steps[MAX_STEPS];
};

static char code_of[PROCEDURES], site_of[SITES];

static int bodies_left; /* of the program that is being made */

static struct body *make_body(int depth, int barriers);

static void add_step(struct body *body, enum kind kind, int depth)
{
    struct step *step = &body->steps[body->n++];
    *step = (struct step){.kind = kind, .count = 1};
    if (kind == CREATE || kind == MANY)
        step->flags = random_below(6) == 0   ? AGENT_TASK_AT_ONCE
                      : random_below(6) == 0 ? AGENT_TASK_FINAL
                                             : 0;
    if (kind == MANY || kind == REGION)
        step->count = 1 + (int)random_below(3);
    if (kind == CREATE || kind == MANY)
        step->child = make_body(depth - 1 - (int)random_below(2), 0);
    if (kind == REGION)
        step->child = make_body(depth - 2, (int)random_below(3));
}

/* The body of a member of a team passes barriers. */
static struct body *make_body(int depth, int barriers)
{
    static const enum kind kinds[] = {NOTHING, CREATE, CREATE, CREATE, MANY, WAIT, GROUP, REGION};
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 && bodies_left-- > 0 ? (int)random_below(MAX_STEPS - 6) : 0, open = 0;
    body->code = &code_of[random_below(PROCEDURES)];
    body->site = &site_of[random_below(SITES)];
    for (int i = 0; i < steps; i++) {
        enum kind kind = kinds[random_below(sizeof kinds / sizeof *kinds)];
        if (kind == GROUP && open > 0)
            kind = GROUP_END;
        open += kind == GROUP ? 1 : kind == GROUP_END ? -1 : 0;
        if (body->n < MAX_STEPS - 4)
            add_step(body, kind, depth);
        else
            open -= kind == GROUP ? 1 : kind == GROUP_END ? -1 : 0;
    }
    if (open > 0)
        add_step(body, GROUP_END, depth);
    for (; barriers > 0; barriers--)
        add_step(body, BARRIER, depth);
    for (int i = 0; i <= body->n; i++)
        body->time[i] = 64 * (uint64_t)(1 + random_below(1 << 20));
    return body;
}

static void free_body(struct body *body)
{
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].child)
            free_body(body->steps[i].child);
    free(body);
}

/* ---- the graph ---- */

static struct {
    int parent;
    const void *code, *site;
} contexts[MAX_CONTEXTS];
static int context_count = 1;

static int context_below(int parent, const void *code, const void *site)
{
    for (int at = parent; at > 0; at = contexts[at].parent)
        if (contexts[at].code == code)
            return at;
    for (int i = 1; i < context_count; i++)
        if (contexts[i].parent == parent && contexts[i].code == code && contexts[i].site == site)
            return i;
    assert_true(context_count < MAX_CONTEXTS);
    contexts[context_count].parent = parent;
    contexts[context_count].code = code;
    contexts[context_count].site = site;
    return context_count++;
}

/* A strand, or a join with time 0. Its longest paths to its end, and their last step. */
static struct vertex {
    int context;
    uint64_t time, burden;
    uint64_t length[KINDS];
    int before[KINDS];
} vertices[MAX_VERTICES];
static int vertex_count;

/* Last vertices of tasks. */
struct ends {
    int n, at[MAX_ENDS];
};

static void add_end(struct ends *ends, int vertex)
{
    assert_true(ends->n < MAX_ENDS);
    ends->at[ends->n++] = vertex;
}

static int add_vertex(int context, uint64_t time, uint64_t burden, int after,
                      const struct ends *others)
{
    int id = vertex_count++;
    struct vertex *vertex = &vertices[id];
    assert_true(id < MAX_VERTICES);
    *vertex = (struct vertex){.context = context, .time = time, .burden = burden};
    for (int kind = 0; kind < KINDS; kind++) {
        int best = after;
        for (int i = 0; others && i < others->n; i++)
            if (vertices[others->at[i]].length[kind] > vertices[best].length[kind])
                best = others->at[i];
        vertex->before[kind] = best;
        vertex->length[kind] = vertices[best].length[kind] + time + (kind == BURDENED ? burden : 0);
    }
    return id;
}

static struct {
    uint64_t work, span[KINDS];
    struct span_values by[MAX_CONTEXTS];
} expected;

/* A task or member of a team that is being unfolded. */
struct unfolded {
    const struct body *body;
    struct unfolded *parent; /* NULL: a member */
    int context, last, step;
    bool is_final;
    struct ends children, *team;
    struct group {
        struct group *outer;
        struct ends ends;
    } * group; /* innermost; its tasks are in all outer ones, too */
};

static int unfold_strand(struct unfolded *task, uint64_t burden)
{
    uint64_t time = task->body->time[task->step];
    expected.work += time;
    expected.by[task->context].work += time;
    return task->last = add_vertex(task->context, time, burden, task->last, NULL);
}

static void unfold(struct unfolded *task, uint64_t burden);

static void unfold_task(struct unfolded *parent, const struct step *step)
{
    struct unfolded *task = calloc(1, sizeof *task);
    bool is_at_once = step->flags & AGENT_TASK_AT_ONCE || parent->is_final;
    task->body = step->child;
    task->parent = parent;
    task->context = context_below(parent->context, step->child->code, step->child->site);
    task->last = parent->last;
    task->is_final = step->flags & AGENT_TASK_FINAL || parent->is_final;
    task->team = parent->team;
    task->group = parent->group;
    expected.by[parent->context].spawns++;
    unfold(task, is_at_once ? 0 : (uint64_t)BURDEN << STRAND_SHIFT);
    add_end(&parent->children, task->last);
    add_end(parent->team, task->last);
    for (struct group *group = parent->group; group; group = group->outer)
        add_end(&group->ends, task->last);
    if (is_at_once)
        parent->last = task->last;
    free(task);
}

static void unfold_region(struct unfolded *parent, const struct body *body, int members);

static void unfold_step(struct unfolded *task, const struct step *step)
{
    struct group *group;
    switch (step->kind) {
    case CREATE:
    case MANY:
        for (int i = 0; i < step->count; i++)
            unfold_task(task, step);
        break;
    case WAIT: task->last = add_vertex(task->context, 0, 0, task->last, &task->children); break;
    case GROUP:
        group = calloc(1, sizeof *group);
        group->outer = task->group;
        task->group = group;
        break;
    case GROUP_END:
        group = task->group;
        task->last = add_vertex(task->context, 0, 0, task->last, &group->ends);
        task->group = group->outer;
        free(group);
        break;
    case REGION: unfold_region(task, step->child, step->count); break;
    case NOTHING:
    case BARRIER: break;
    }
}

/* Up to the end, or to a barrier. */
static void unfold(struct unfolded *task, uint64_t burden)
{
    for (; task->step < task->body->n; task->step++) {
        const struct step *step = &task->body->steps[task->step];
        unfold_strand(task, task->step == 0 ? burden : 0);
        if (step->kind == BARRIER) {
            task->step++;
            return;
        }
        unfold_step(task, step);
    }
    unfold_strand(task, task->step == 0 ? burden : 0);
    task->step++;
}

static int unfold_team(int context, int last, const struct body *body, int members)
{
    struct unfolded *team = calloc((size_t)members, sizeof *team);
    struct ends *ends = calloc(1, sizeof *ends);
    for (int i = 0; i < members; i++)
        team[i] = (struct unfolded){.body = body, .context = context, .last = last, .team = ends};
    bool is_first = true;
    while (team[0].step <= body->n) {
        for (int i = 0; i < members; i++)
            unfold(&team[i], is_first && i > 0 ? (uint64_t)BURDEN << STRAND_SHIFT : 0);
        is_first = false;
        for (int i = 0; i < members; i++)
            add_end(ends, team[i].last);
        last = add_vertex(context, 0, 0, team[0].last, ends);
        for (int i = 0; i < members; i++)
            team[i].last = last;
    }
    free(team);
    free(ends);
    return last;
}

static void unfold_region(struct unfolded *parent, const struct body *body, int members)
{
    int context = context_below(parent->context, body->code, body->site);
    parent->last = unfold_team(context, parent->last, body, members);
}

/* Adds the longest paths of a program that is one region. */
static void expect(const struct body *body, int members, uint64_t serial)
{
    vertex_count = 0;
    int start = add_vertex(0, 0, 0, 0, NULL);
    int end = unfold_team(context_below(0, body->code, body->site), start, body, members);
    expected.work += serial;
    expected.by[0].work += serial;
    expected.by[0].span += serial;
    expected.by[0].burdened_span += serial;
    for (int kind = 0; kind < KINDS; kind++) {
        expected.span[kind] += serial + vertices[end].length[kind];
        for (int at = end; at != start; at = vertices[at].before[kind]) {
            const struct vertex *vertex = &vertices[at];
            struct span_values *values = &expected.by[vertex->context];
            values->span += kind == PLAIN ? vertex->time : 0;
            values->burdened_span += kind == BURDENED ? vertex->time + vertex->burden : 0;
        }
    }
}

/* ---- the simulated runtime ---- */

struct team {
    void *handle;
    int members, arrived, tasks; /* that have not ended */
    int opened;                  /* barriers */
};

struct sim_group {
    struct sim_group *outer;
    int tasks;
};

/* An execution of a body. */
struct run {
    const struct body *body;
    void *handle;
    struct run *parent; /* NULL: a member */
    struct team *team;
    struct sim_group *group, *own_group;
    int step, children, references, passed; /* barriers */
    bool is_final, is_at_once, waits;
    int left; /* tasks of a MANY step that it still has to execute at once */
    struct run *next;
};

static struct thread {
    struct run *stack[256];
    int depth;
    struct team *team; /* NULL: not in use */
} threads[MAX_THREADS];

static unsigned threads_used; /* threads from this one on never were */

static struct run *ready; /* tasks that nobody executes */

/* A run that has ended stays for the runs that it created. */
static void drop(struct run *run)
{
    while (run && --run->references == 0) {
        struct run *parent = run->parent;
        free(run);
        run = parent;
    }
}

static void push(struct thread *thread, struct run *run)
{
    assert_true(thread->depth < 256);
    thread->stack[thread->depth++] = run;
}

static void start_member(struct thread *thread, struct team *team, const struct body *body)
{
    struct run *run = calloc(1, sizeof *run);
    struct task_thread *before = self;
    run->body = body;
    run->team = team;
    run->references = 1;
    thread->team = team;
    if (threads_used <= thread - threads)
        threads_used = (unsigned)(thread - threads) + 1;
    push(thread, run);
    self = &records[thread - threads];
    task_span_member_begins(team->handle);
    self = before;
}

/* Members other than the master are in threads that nobody uses. */
static void start_team(struct thread *master, const struct body *body, int members)
{
    struct team *team = calloc(1, sizeof *team);
    team->handle = task_span_region_begins(body->code, body->site);
    assert_non_null(team->handle);
    team->members = members;
    start_member(master, team, body);
    for (int i = 0, started = 1; started < members; i++) {
        assert_true(i < MAX_THREADS);
        if (threads[i].team)
            continue;
        start_member(&threads[i], team, body);
        started++;
    }
}

static struct run *new_task(struct run *parent, const struct step *step, void *handle)
{
    struct run *run = calloc(1, sizeof *run);
    *run = (struct run){.body = step->child,
                        .handle = handle,
                        .parent = parent,
                        .team = parent->team,
                        .group = parent->own_group ? parent->own_group : parent->group,
                        .references = 1,
                        .is_at_once = step->flags & AGENT_TASK_AT_ONCE || parent->is_final,
                        .is_final = step->flags & AGENT_TASK_FINAL || parent->is_final};
    parent->references++;
    parent->children++;
    run->team->tasks++;
    if (run->group)
        run->group->tasks++;
    return run;
}

static void execute(struct thread *thread, struct run *run)
{
    push(thread, run);
    task_span_task_begins(run->handle);
}

static void create(struct thread *thread, struct run *parent, const struct step *step)
{
    unsigned more = step->kind == MANY ? AGENT_TASK_MANY : 0;
    void *handle = task_span_created(step->child->code, step->child->site, step->flags | more);
    assert_non_null(handle);
    bool is_at_once = step->flags & AGENT_TASK_AT_ONCE || parent->is_final;
    parent->left = step->count;
    for (int i = 0; i < step->count && !is_at_once; i++) {
        struct run *run = new_task(parent, step, handle);
        run->next = ready;
        ready = run;
    }
    if (is_at_once) {
        struct run *run = new_task(parent, step, handle);
        parent->left--;
        execute(thread, run);
    } else {
        task_span_creation_ended();
    }
}

static bool is_below(const struct run *run, const struct run *ancestor)
{
    for (; run; run = run->parent)
        if (run == ancestor)
            return true;
    return false;
}

/* Executes some task, while the thread waits; tied tasks: below the one that waits, unless that is
 * at a barrier. */
static bool execute_some(struct thread *thread, const struct run *waiting)
{
    struct run **link = &ready;
    for (unsigned skip = random_below(4); *link; link = &(*link)->next) {
        if ((*link)->team != thread->team || (waiting && !is_below(*link, waiting)))
            continue;
        if (skip-- == 0 || !(*link)->next) {
            struct run *run = *link;
            *link = run->next;
            execute(thread, run);
            return true;
        }
    }
    return false;
}

static void end_task(struct thread *thread, struct run *run)
{
    struct run *parent = run->parent;
    task_span_task_ended();
    thread->depth--;
    parent->children--;
    run->team->tasks--;
    if (run->group)
        run->group->tasks--;
    bool returns = run->is_at_once;
    void *handle = run->handle;
    if (returns && parent->left > 0) {
        parent->left--;
        execute(thread, new_task(parent, &parent->body->steps[parent->step], handle));
    } else if (returns) {
        parent->step++;
        task_span_creation_ended();
    }
    drop(run);
}

static void end_member(struct thread *thread, struct run *run)
{
    task_span_member_ended();
    thread->depth--;
    run->team->arrived++;
    drop(run);
}

static const enum agent_join joins[] = {
    [WAIT] = AGENT_JOIN_CHILDREN, [GROUP_END] = AGENT_JOIN_GROUP, [BARRIER] = AGENT_JOIN_TEAM};

static bool is_over(const struct run *run, enum kind kind)
{
    switch (kind) {
    case WAIT: return run->children == 0;
    case GROUP_END: return run->own_group->tasks == 0;
    default: return run->passed < run->team->opened;
    }
}

static void begin_wait(struct run *run, enum kind kind)
{
    task_span_waits(joins[kind]);
    run->waits = true;
    if (kind == BARRIER)
        run->team->arrived++;
}

/* The team's barrier opens when all are there. */
static void open_barrier(struct team *team)
{
    if (team->arrived < team->members || team->tasks > 0)
        return;
    team->opened++;
    team->arrived = 0;
}

static void end_wait(struct run *run, enum kind kind)
{
    task_span_wait_ended(joins[kind]);
    run->waits = false;
    run->step++;
    if (kind == GROUP_END) {
        struct sim_group *group = run->own_group;
        run->own_group = group->outer;
        free(group);
    }
    run->passed += kind == BARRIER;
}

static void begin_group(struct run *run)
{
    struct sim_group *group = calloc(1, sizeof *group);
    task_span_group_begins();
    group->outer = run->own_group;
    run->own_group = group;
    run->step++;
}

static void do_step(struct thread *thread, struct run *run)
{
    const struct step *step = &run->body->steps[run->step];
    strand_time = run->body->time[run->step];
    if (run->step == run->body->n) {
        if (run->parent)
            end_task(thread, run);
        else
            end_member(thread, run);
        return;
    }
    switch (step->kind) {
    case NOTHING: /* the strand goes on: an event that joins nothing */
        task_span_waits(AGENT_JOIN_NOTHING);
        task_span_wait_ended(AGENT_JOIN_NOTHING);
        run->step++;
        break;
    case CREATE:
    case MANY: {
        bool is_at_once = step->flags & AGENT_TASK_AT_ONCE || run->is_final;
        create(thread, run, step);
        run->step += is_at_once ? 0 : 1;
        break;
    }
    case GROUP: begin_group(run); break;
    case REGION:
        start_team(thread, step->child, step->count);
        run->waits = true;
        break;
    case WAIT:
    case GROUP_END:
    case BARRIER: begin_wait(run, step->kind); break;
    }
}

/* The master of a region that has ended, and its other threads. */
static void end_region(struct thread *master)
{
    struct team *team = master->team;
    for (int i = 0; i < MAX_THREADS; i++)
        if (threads[i].team == team)
            threads[i].team = NULL;
    task_span_region_ended(team->handle);
    if (master->depth > 0) {
        struct run *run = master->stack[master->depth - 1];
        master->team = run->team;
        run->waits = false;
        run->step++;
    }
    free(team);
}

static bool is_master(const struct thread *thread)
{
    return thread->depth > 0 || thread == threads;
}

/* One step of a thread, if it can do any. */
static void step(struct thread *thread)
{
    struct run *run = thread->depth > 0 ? thread->stack[thread->depth - 1] : NULL;
    self = &records[thread - threads];
    bool has_ended = !run || run->team != thread->team; /* the member; not all of the team */
    if (has_ended) {
        if (execute_some(thread, NULL))
            return;
        if (is_master(thread) && thread->team->arrived == thread->team->members &&
            thread->team->tasks == 0)
            end_region(thread);
        return;
    }
    if (!run->waits) {
        do_step(thread, run);
        return;
    }
    enum kind kind = run->body->steps[run->step].kind;
    if (kind == BARRIER)
        open_barrier(run->team);
    if (is_over(run, kind))
        end_wait(run, kind);
    else
        execute_some(thread, kind == BARRIER ? NULL : run);
}

static void execute_program(const struct body *body, int members, uint64_t serial)
{
    self = &records[0];
    threads_used = 0;
    strand_time = serial;
    start_team(&threads[0], body, members);
    while (threads[0].team) {
        struct thread *thread = &threads[random_below(threads_used)];
        if (thread->team)
            step(thread);
    }
    assert_null(ready);
    self = &records[0];
}

/* ---- comparison ---- */

static int defined_context(uint32_t id)
{
    if (id == CONTEXT_PROGRAM)
        return 0;
    const struct span_context *context = span_context(id);
    int count = context_count;
    int found = context_below(defined_context(context->parent), (const void *)context->procedure,
                              (const void *)context->site);
    assert_int_equal(context_count, count);
    return found;
}

static void compare(void)
{
    struct span_totals totals = work_span_totals();
    assert_false(totals.is_incomplete);
    assert_null(task_span_problem());
    assert_int_equal(totals.work, expected.work);
    assert_int_equal(totals.span, expected.span[PLAIN]);
    assert_int_equal(totals.burdened_span, expected.span[BURDENED]);
    for (uint32_t id = 0; id < span_contexts_end(); id++) {
        struct span_values values = work_span_values(id);
        const struct span_values *right = &expected.by[defined_context(id)];
        assert_int_equal(values.work, right->work);
        assert_int_equal(values.span, right->span);
        assert_int_equal(values.burdened_span, right->burdened_span);
        assert_int_equal(values.spawns, right->spawns);
    }
}

static void test_random_programs(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        int members = 1 + round % 4;
        bodies_left = 30;
        struct body *body = make_body(5, (int)random_below(3));
        uint64_t serial = random_below(1 << 20);
        expect(body, members, serial);
        execute_program(body, members, serial);
        free_body(body);
        compare();
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
    *region = task_span_region_begins(code_of, site_of);
    task_span_member_begins(*region);
    return before;
}

static void check_program(void *region, struct span_totals before, uint64_t work, uint64_t span)
{
    task_span_member_ended();
    task_span_region_ended(region);
    struct span_totals after = work_span_totals();
    assert_int_equal(after.work - before.work, work);
    assert_int_equal(after.span - before.span, span);
}

static void run_task(void *task, uint64_t time)
{
    task_span_task_begins(task);
    strand(time);
    task_span_task_ended();
}

/* A thread that comes first to `single copyprivate` leaves it at once: its children are still its
 * own, to wait for. */
static void test_no_barrier_yet(void **state)
{
    (void)state;
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

/* A task that never runs, since its region is cancelled, is no work. */
static void test_cancelled(void **state)
{
    (void)state;
    void *region;
    struct span_totals before = begin_program(&region);
    task_span_created(code_of, site_of, 0);
    task_span_creation_ended();
    strand(3);
    check_program(region, before, 3, 3);
}

/* Outside of regions, and in a process that does not measure any more, nothing is observed. */
static void test_nothing_to_observe(void **state)
{
    (void)state;
    self = &records[0];
    assert_null(task_span_created(code_of, site_of, 0));
    task_span_creation_ended();
    task_span_waits(AGENT_JOIN_CHILDREN);
    task_span_wait_ended(AGENT_JOIN_CHILDREN);
    task_span_group_begins();
    assert_false(task_span_is_lower_bound());
}

static void test_order_that_is_not_followed(void **state)
{
    (void)state;
    void *region;
    struct span_totals before = begin_program(&region);
    assert_false(task_span_is_lower_bound());
    run_task(task_span_created(code_of, site_of, AGENT_TASK_ORDERED), 1);
    assert_true(task_span_is_lower_bound());
    task_span_creation_ended();
    check_program(region, before, 1, 1);
}

static void test_regions_at_the_same_time(void **state)
{
    (void)state;
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

static void test_stopped(void **state)
{
    (void)state;
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
static void test_children_wait_for_a_member_that_arrives(void **state)
{
    (void)state;
    struct worker_memory memory = {0};
    struct critical_path longest[KINDS];
    pthread_t thread;
    struct span_region *region = region_new(&memory, 1);
    struct span_task *member = task_new(&memory, region, NULL, 1);
    struct span_task *child = task_new(&memory, region, member, 2);
    for (unsigned kind = 0; kind < KINDS; kind++)
        path_add_own(&child->path[kind], 10);
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
static void test_memory_of_a_producer_and_a_consumer(void **state)
{
    (void)state;
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
    (void)state;
    self = &records[0];
    if (!work_span_init(BURDEN, false))
        return -1;
    task_span_init(BURDEN, false, root_site);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_no_barrier_yet),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_nothing_to_observe),
        cmocka_unit_test(test_order_that_is_not_followed),
        cmocka_unit_test(test_regions_at_the_same_time),
        cmocka_unit_test(test_children_wait_for_a_member_that_arrives),
        cmocka_unit_test(test_memory_of_a_producer_and_a_consumer),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
