#include "tests/unit/hpcrun/task_graph.h"

#include "tests/unit/cmocka_suite.h"

#include "agents/agent.h"
#include "hpcrun/span/strand-clock.h"

enum { MAX_VERTICES = 1 << 16, MAX_ENDS = 1 << 12 };

static struct {
    int parent;
    const void *code, *site;
} contexts[MAX_CONTEXTS];
int context_count = 1;

int context_below(int parent, const void *code, const void *site)
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

struct expected expected;

/* A task or member of a team that is being unfolded. */
struct unfolded {
    const struct body *body;
    struct unfolded *parent; /* NULL: a member */
    int context, last, step;
    bool is_final, is_in_parts, is_at_once;
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
    task->is_in_parts = step->flags & AGENT_TASK_IN_PARTS;
    task->is_at_once = is_at_once;
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
    case PART:
    case BARRIER: break;
    }
}

/* Of the strand at a task's current step; `first`: of the first one. */
static uint64_t burden_here(const struct unfolded *task, uint64_t first)
{
    if (task->step == 0)
        return first;
    bool is_part =
        task->is_in_parts && !task->is_at_once && task->body->steps[task->step - 1].kind == PART;
    return is_part ? (uint64_t)BURDEN << STRAND_SHIFT : 0;
}

/* Up to the end, or to a barrier. */
static void unfold(struct unfolded *task, uint64_t burden)
{
    for (; task->step < task->body->n; task->step++) {
        const struct step *step = &task->body->steps[task->step];
        unfold_strand(task, burden_here(task, burden));
        if (step->kind == BARRIER) {
            task->step++;
            return;
        }
        unfold_step(task, step);
    }
    unfold_strand(task, burden_here(task, burden));
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

void expect(const struct body *body, int members, uint64_t serial)
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
