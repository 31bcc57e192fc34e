#include "tests/unit/hpcrun/random_cilk.h"

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/span/strand-clock.h"

/* ---- programs ---- */

static struct body *make_body(struct body *parent, bool is_task, unsigned site, int depth);

/* The compiler puts a sync before the end of a body that has spawned. */
static void add_step(struct body *body, enum kind kind, int depth)
{
    int i = body->n++;
    body->steps[i].kind = kind;
    if (kind == SPAWN || kind == CALL)
        body->steps[i].child =
            make_body(body, kind == SPAWN, random_below(SITES), depth - 1 - (int)random_below(2));
}

static struct body *make_body(struct body *parent, bool is_task, unsigned site, int depth)
{
    static const enum kind kinds[] = {NOTHING, SPAWN, SPAWN, SPAWN, CALL, CALL, SYNC};
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 ? (int)random_below(MAX_STEPS) : 0;
    bool spawns = false, is_open = false;
    body->parent = parent;
    body->is_task = is_task;
    body->code = random_below(PROCEDURES);
    body->site = site;
    for (int i = 0; i < steps; i++) {
        add_step(body, kinds[random_below(sizeof kinds / sizeof *kinds)], depth);
        enum kind kind = body->steps[i].kind;
        is_open = kind == SPAWN || (is_open && kind != SYNC);
        spawns |= kind == SPAWN;
    }
    if (is_open)
        add_step(body, SYNC, depth);
    body->has_hooks = spawns || !parent;
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].kind == SYNC && !spawns)
            body->steps[i].kind = NOTHING; /* as compilers do */
    for (int i = 0; i <= body->n; i++)
        body->time[i] = 64 * (uint64_t)(1 + random_below(1 << 20)); /* up to 66 us */
    return body;
}

struct body *make_root(void)
{
    return make_body(NULL, false, random_below(SITES), 5);
}

void free_body(struct body *body)
{
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].child)
            free_body(body->steps[i].child);
    free(body);
}

/* ---- the definition ---- */

struct defined defined[MAX_CONTEXTS];
int defined_count = 1;

int defined_below(int parent, unsigned code, unsigned site)
{
    for (int at = parent; at > 0; at = defined[at].parent)
        if (defined[at].code == code)
            return at;
    for (int i = 1; i < defined_count; i++)
        if (defined[i].parent == parent && defined[i].code == code && defined[i].site == site)
            return i;
    assert_true(defined_count < MAX_CONTEXTS);
    defined[defined_count] = (struct defined){.parent = parent, .code = code, .site = site};
    return defined_count++;
}

struct path {
    uint64_t length, local[MAX_CONTEXTS];
};

struct lengths expected;

static void lengthen(struct path *path, int context, uint64_t time)
{
    path->length += time;
    path->local[context] += time;
}

static void append(struct path *path, const struct path *tail)
{
    path->length += tail->length;
    for (int i = 0; i < defined_count; i++)
        path->local[i] += tail->local[i];
}

/* The spawn that the programmer sees: that of the outermost task below the procedure. */
static unsigned seen_site(const struct body *body)
{
    unsigned site = body->site;
    for (body = body->parent; body && (body->is_task || !body->has_hooks); body = body->parent)
        if (body->is_task)
            site = body->site;
    return site;
}

/* The context of a body's own code. */
static int context_of(const struct body *body, int outer)
{
    if (body->is_task || !body->has_hooks)
        return outer;
    return defined_below(outer, body->code, seen_site(body));
}

/* The longest path of a body; heap: paths are large. */
static struct path *longest_path(const struct body *body, int outer, unsigned kind)
{
    int context = context_of(body, outer);
    struct path *here = calloc(1, sizeof *here), *longest = calloc(1, sizeof *longest);
    for (int i = 0; i <= body->n; i++) {
        const struct step *step = i < body->n ? &body->steps[i] : NULL;
        struct path *path = step && step->child ? longest_path(step->child, context, kind) : NULL;
        lengthen(here, context, body->time[i]);
        if (path && step->kind == CALL) {
            append(here, path);
        } else if (path) {
            append(path, here);
            if (path->length > longest->length)
                *longest = *path;
            lengthen(here, context, kind == BURDENED ? SPAN_BURDEN_NS << STRAND_SHIFT : 0);
        } else if (step && step->kind == SYNC && longest->length > here->length) {
            *here = *longest;
        }
        if (step && step->kind == SYNC)
            longest->length = 0;
        free(path);
    }
    free(longest);
    return here;
}

/* Adds the work of a body to contexts, and returns it. */
static uint64_t count_work(const struct body *body, int outer)
{
    int context = context_of(body, outer);
    struct span_values *values = &defined[context].values;
    uint64_t work = 0;
    for (int i = 0; i <= body->n; i++) {
        work += body->time[i];
        values->work += body->time[i];
        if (i == body->n || !body->steps[i].child)
            continue;
        values->spawns += body->steps[i].kind == SPAWN;
        work += count_work(body->steps[i].child, context);
    }
    return work;
}

/* Sets the probes of a body that begins at some point; returns where it ends. */
static struct lengths set_probes(struct body *body, struct lengths here)
{
    struct lengths ended = {0};
    for (int i = 0; i <= body->n; i++) {
        struct step *step = i < body->n ? &body->steps[i] : NULL;
        here.work += body->time[i];
        here.span[PLAIN] += body->time[i];
        here.span[BURDENED] += body->time[i];
        if (!step)
            break;
        step->probe = here;
        struct lengths end = step->child ? set_probes(step->child, here) : here;
        if (step->kind == CALL)
            here = end;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            uint64_t *longest = &ended.span[kind];
            if (step->kind == SPAWN && end.span[kind] > *longest)
                *longest = end.span[kind];
            if (step->kind == SYNC && *longest > here.span[kind])
                here.span[kind] = *longest;
        }
        ended.work += step->kind == SPAWN ? end.work - here.work : 0;
        here.span[BURDENED] += step->kind == SPAWN ? SPAN_BURDEN_NS << STRAND_SHIFT : 0;
        if (step->kind == SYNC) {
            here.work += ended.work;
            ended = (struct lengths){0};
        }
    }
    return here;
}

void expect(struct body *root, uint64_t serial)
{
    uint64_t *const spans[KINDS] = {&defined[0].values.span, &defined[0].values.burdened_span};
    expected.work += serial;
    defined[0].values.work += serial;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        expected.span[kind] += serial;
        *spans[kind] += serial;
    }
    expected = set_probes(root, expected);
    count_work(root, 0);
    struct path *plain = longest_path(root, 0, PLAIN), *burdened = longest_path(root, 0, BURDENED);
    for (int i = 1; i < defined_count; i++) {
        defined[i].values.span += plain->local[i];
        defined[i].values.burdened_span += burdened->local[i];
    }
    free(plain);
    free(burdened);
}
