#include "tests/unit/hpcrun/program_graph.h"

#include "tests/unit/cmocka_suite.h"

#include "agents/agent.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/span/work-span.h"

enum { MAX_VERTICES = 1 << 20 };

#define BURDEN_TIME ((uint64_t)BURDEN << STRAND_SHIFT)

void free_body(struct body *body)
{
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].child)
            free_body(body->steps[i].child);
    free(body);
}

/* ---- contexts ---- */

static struct {
    int parent;
    const void *code, *site;
} contexts[MAX_CONTEXTS];
int context_count = 1;

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

/* The context of a body's own code. Its site is the one that the programmer sees: of the outermost task below the
 * procedure. */
static int context_of(const struct body *body, int outer)
{
    const void *site = body->site;
    if (body->is_hidden)
        return outer;
    for (const struct body *around = body->parent; around && around->is_hidden; around = around->parent)
        if (around->is_task)
            site = around->site;
    return context_below(outer, body->code, site);
}

/* ---- the graph ---- */

/* A strand, or a join with time 0. Its longest paths to its end, and their last step. */
static struct vertex {
    int context;
    uint64_t time, burden;
    uint64_t length[KINDS];
    int before[KINDS];
} vertices[MAX_VERTICES];
static int vertex_count;

/* Of the last vertices of some tasks, those with the longest paths; 0, the start: none. */
struct ends {
    int longest[KINDS];
};

static void add_end(struct ends *ends, int vertex)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (vertices[vertex].length[kind] > vertices[ends->longest[kind]].length[kind])
            ends->longest[kind] = vertex;
}

static int add_vertex(int context, uint64_t time, uint64_t burden, int after, const struct ends *others)
{
    int id = vertex_count++;
    struct vertex *vertex = &vertices[id];
    assert_true(id < MAX_VERTICES);
    *vertex = (struct vertex){.context = context, .time = time, .burden = burden};
    for (int kind = 0; kind < KINDS; kind++) {
        int best = after, other = others ? others->longest[kind] : after;
        if (vertices[other].length[kind] > vertices[best].length[kind])
            best = other;
        vertex->before[kind] = best;
        vertex->length[kind] = vertices[best].length[kind] + time + (kind == BURDENED ? burden : 0);
    }
    return id;
}

struct expected expected;
static struct lengths before; /* the program's begin */
static bool is_cilk;

/* A task or member of a team that is being unfolded. */
struct unfolded {
    struct body *body;
    struct unfolded *parent; /* NULL: a member */
    int context, last, step;
    uint64_t work, ended; /* along the path through it; of children that it has not waited for */
    bool is_final, is_in_parts, is_at_once;
    struct ends children, *team; /* team: NULL: none */
    struct group {
        struct group *outer;
        struct ends ends;
    } * group; /* innermost; its tasks are in all outer ones, too */
};

static void unfold_strand(struct unfolded *task, uint64_t burden)
{
    uint64_t time = task->body->time[task->step];
    expected.all.work += time;
    expected.by[task->context].work += time;
    task->work += time;
    task->last = add_vertex(task->context, time, burden, task->last, NULL);
}

static void set_probe(const struct unfolded *task, struct lengths *probe)
{
    probe->work = before.work + task->work;
    for (int kind = 0; kind < KINDS; kind++)
        probe->span[kind] = before.span[kind] + vertices[task->last].length[kind];
}

static void unfold(struct unfolded *task, uint64_t burden);

static void unfold_child(struct unfolded *parent, const struct step *step)
{
    bool is_call = step->kind == CALL, is_at_once = step->flags & AGENT_TASK_AT_ONCE || parent->is_final;
    struct unfolded task = {.body = step->child,
                            .parent = parent,
                            .context = context_of(step->child, parent->context),
                            .last = parent->last,
                            .work = parent->work,
                            .is_final = step->flags & AGENT_TASK_FINAL || parent->is_final,
                            .is_in_parts = step->flags & AGENT_TASK_IN_PARTS,
                            .is_at_once = is_at_once,
                            .team = parent->team,
                            .group = parent->group};
    unfold(&task, is_at_once || is_cilk ? 0 : BURDEN_TIME);
    if (is_call || is_at_once)
        parent->last = task.last;
    if (is_call) {
        parent->work = task.work;
        return;
    }
    expected.by[parent->context].spawns++;
    parent->ended += task.work - parent->work;
    add_end(&parent->children, task.last);
    if (parent->team)
        add_end(parent->team, task.last);
    for (struct group *group = parent->group; group; group = group->outer)
        add_end(&group->ends, task.last);
}

static void join_children(struct unfolded *task)
{
    task->last = add_vertex(task->context, 0, 0, task->last, &task->children);
    task->work += task->ended;
    task->ended = 0;
}

static void unfold_region(struct unfolded *parent, struct body *body, int members);

static void unfold_step(struct unfolded *task, const struct step *step)
{
    struct group *group;
    switch (step->kind) {
    case CREATE:
    case MANY:
    case CALL:
        for (int i = 0; i < step->count; i++)
            unfold_child(task, step);
        break;
    case WAIT: join_children(task); break;
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
    case PART:
    case BARRIER: break;
    }
}

/* Of the strand at a task's current step; `first`: of the first one. */
static uint64_t burden_here(const struct unfolded *task, uint64_t first)
{
    if (task->step == 0)
        return first;
    enum kind last = task->body->steps[task->step - 1].kind;
    bool is_part = last == PART && task->is_in_parts && !task->is_at_once;
    return is_part || (last == CREATE && is_cilk) ? BURDEN_TIME : 0;
}

/* Up to the end, or to a barrier. */
static void unfold(struct unfolded *task, uint64_t burden)
{
    for (; task->step < task->body->n; task->step++) {
        struct step *step = &task->body->steps[task->step];
        unfold_strand(task, burden_here(task, burden));
        set_probe(task, &step->probe);
        if (step->kind == BARRIER) {
            task->step++;
            return;
        }
        unfold_step(task, step);
    }
    unfold_strand(task, burden_here(task, burden));
    task->step++;
    if (is_cilk)
        join_children(task);
}

static int unfold_team(int context, int last, struct body *body, int members)
{
    struct unfolded *team = calloc((size_t)members, sizeof *team);
    struct ends ends = {{0}};
    for (int i = 0; i < members; i++)
        team[i] = (struct unfolded){.body = body, .context = context, .last = last, .team = &ends};
    bool is_first = true;
    while (team[0].step <= body->n) {
        for (int i = 0; i < members; i++)
            unfold(&team[i], is_first && i > 0 ? BURDEN_TIME : 0);
        is_first = false;
        for (int i = 0; i < members; i++)
            add_end(&ends, team[i].last);
        last = add_vertex(context, 0, 0, team[0].last, &ends);
        for (int i = 0; i < members; i++)
            team[i].last = last;
    }
    free(team);
    return last;
}

static void unfold_region(struct unfolded *parent, struct body *body, int members)
{
    parent->last = unfold_team(context_of(body, parent->context), parent->last, body, members);
}

/* ---- what is expected ---- */

static void begin_program(uint64_t serial)
{
    expected.all.work += serial;
    expected.by[0].work += serial;
    expected.by[0].span += serial;
    expected.by[0].burdened_span += serial;
    for (int kind = 0; kind < KINDS; kind++)
        expected.all.span[kind] += serial;
    before = expected.all;
    vertex_count = 0;
    add_vertex(0, 0, 0, 0, NULL);
}

static void end_program(int end)
{
    for (int kind = 0; kind < KINDS; kind++) {
        expected.all.span[kind] += vertices[end].length[kind];
        for (int at = end; at != 0; at = vertices[at].before[kind]) {
            const struct vertex *vertex = &vertices[at];
            struct span_values *values = &expected.by[vertex->context];
            values->span += kind == PLAIN ? vertex->time : 0;
            values->burdened_span += kind == BURDENED ? vertex->time + vertex->burden : 0;
        }
    }
}

void expect_region(struct body *body, int members, uint64_t serial)
{
    begin_program(serial);
    is_cilk = false;
    end_program(unfold_team(context_of(body, 0), 0, body, members));
}

void expect_cilk(struct body *root, uint64_t serial)
{
    begin_program(serial);
    is_cilk = true;
    struct unfolded task = {.body = root, .context = context_of(root, 0)};
    unfold(&task, 0);
    end_program(task.last);
}

/* ---- what there is ---- */

/* The definition's context for one of the product's. */
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

void compare_results(struct span_totals totals)
{
    const struct strand_excess none = {0};
    assert_false(totals.is_incomplete);
    assert_int_equal(totals.work.time, expected.all.work);
    assert_int_equal(totals.span.time, expected.all.span[PLAIN]);
    assert_int_equal(totals.burdened_span.time, expected.all.span[BURDENED]);
    for (uint32_t id = 0; id < span_contexts_end(); id++) {
        struct span_values values = work_span_values(id, &none);
        const struct span_values *right = &expected.by[defined_context(id)];
        assert_int_equal(values.work, right->work);
        assert_int_equal(values.span, right->span);
        assert_int_equal(values.burdened_span, right->burdened_span);
        assert_int_equal(values.spawns, right->spawns);
    }
}
