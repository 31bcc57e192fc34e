#include "tests/unit/hpcrun/random_tasks.h"

#include "agents/agent.h"

#include <stdlib.h>

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

void free_body(struct body *body)
{
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].child)
            free_body(body->steps[i].child);
    free(body);
}
