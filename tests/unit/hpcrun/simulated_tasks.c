#include "tests/unit/hpcrun/simulated_tasks.h"

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/span/task-span.h"

/* ---- programs ---- */

unsigned random_below(unsigned limit)
{
    static uint64_t seed = 1;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16) % limit;
}

char code_of[PROCEDURES], site_of[SITES];

int bodies_left;

static void add_step(struct body *body, enum kind kind, int depth)
{
    struct step *step = &body->steps[body->n++];
    *step = (struct step){.kind = kind, .count = 1};
    if (kind == CREATE || kind == MANY)
        step->flags = random_below(6) == 0   ? AGENT_TASK_AT_ONCE
                      : random_below(6) == 0 ? AGENT_TASK_FINAL
                                             : 0;
    if (kind == CREATE && random_below(2))
        step->flags |= AGENT_TASK_IN_PARTS;
    if (kind == MANY || kind == REGION)
        step->count = 1 + (int)random_below(3);
    if (kind == CREATE || kind == MANY)
        step->child = make_body(depth - 1 - (int)random_below(2), 0);
    if (kind == REGION)
        step->child = make_body(depth - 2, (int)random_below(3));
}

struct body *make_body(int depth, int barriers)
{
    static const enum kind kinds[] = {NOTHING, CREATE, CREATE, CREATE, MANY,
                                      WAIT,    GROUP,  REGION, PART,   PART};
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 && bodies_left-- > 0 ? (int)random_below(10) : 0, open = 0;
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

/* ---- hpcrun's records of threads ---- */

struct task_thread records[MAX_THREADS], *self;

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

/* ---- the runtime ---- */

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
    bool is_final, is_at_once, is_in_parts, waits;
    int left; /* tasks of a MANY step that it still has to execute at once */
    struct run *next;
};

static struct thread {
    struct run *stack[256];
    int depth;
    struct team *team; /* NULL: not in use */
} threads[MAX_THREADS];

static unsigned threads_used; /* threads from this one on never were */

static struct run *ready; /* tasks that no thread has begun */

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
    task_span_region_code(team->handle, body->code);
    task_span_member_begins(team->handle);
    self = before;
}

/* Members other than the master are in threads that nobody uses. */
static void start_team(struct thread *master, const struct body *body, int members)
{
    struct team *team = calloc(1, sizeof *team);
    const void *known_code = random_below(2) ? body->code : NULL;
    team->handle = task_span_region_begins(known_code, body->site);
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
                        .is_final = step->flags & AGENT_TASK_FINAL || parent->is_final,
                        .is_in_parts = step->flags & AGENT_TASK_IN_PARTS};
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

/* The thread leaves a part: any thread executes the next one, or the same one at once. */
static void leave_part(struct thread *thread, struct run *run)
{
    run->step++;
    task_span_part_ended();
    if (run->is_at_once) {
        task_span_task_begins(run->handle);
        return;
    }
    thread->depth--;
    run->next = ready;
    ready = run;
}

/* As libomp, if the thread of an earlier part tells the end, before or after the one of the last part. */
static void end_in_another_thread(struct run *run)
{
    struct task_thread *executes = self, *tells = &records[(self - records + 1) % MAX_THREADS];
    bool is_left = random_below(2);
    if (is_left)
        task_span_part_ended();
    self = tells;
    task_span_ended_elsewhere(run->handle);
    self = executes;
    strand_time = random_below(1 << 20);
    if (!is_left)
        task_span_part_ended();
    strand_time = 0;
}

static void end_task(struct thread *thread, struct run *run)
{
    struct run *parent = run->parent;
    if (run->is_in_parts && !run->is_at_once && random_below(2))
        end_in_another_thread(run);
    else
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
    case PART:
        if (run->is_in_parts) {
            leave_part(thread, run);
            break;
        }
        task_span_waits(AGENT_JOIN_NOTHING);
        task_span_wait_ended(AGENT_JOIN_NOTHING);
        run->step++;
        break;
    case REGION:
        start_team(thread, step->child, step->count);
        run->waits = true;
        break;
    case WAIT:
    case GROUP_END:
    case BARRIER: begin_wait(run, step->kind); break;
    case CALL: break; /* of Cilk */
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

void execute_program(const struct body *body, int members, uint64_t serial)
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
