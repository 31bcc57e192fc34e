#include "viewer-tui/compare/metric-pairs.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"

#include <stdlib.h>
#include <string.h>

/* What identifies a metric. */
struct identity {
    const char *name; /* the first `length` bytes: "overhead:spawn" of "overhead:spawn (CPUTIME)" */
    size_t length;
    char *event;      /* owned; "" if unknown */
    const char *unit; /* "" if unknown */
};

struct identities {
    struct identity *at;
    size_t n;
};

/* An effort has the event of its work. */
static char *event_of_effort(const json_t *run, const char *name)
{
    const char *behind = name + strlen(efficiency_part_name(EFFORT));
    char *work = mem_printf("%s%s", efficiency_part_name(WORK), behind);
    char *event = mem_strdup(run_text(run_metric(run, work), "event"));
    free(work);
    return event;
}

static struct identity identify(const struct metric *metric, const json_t *run)
{
    const char *name = metric->name, *open = strrchr(name, '(');
    size_t length = strlen(name);
    bool has_parentheses = open && open > name + 1 && open[-1] == ' ' && name[length - 1] == ')';
    struct identity identity = {.name = name, .length = length, .unit = run ? metric->unit : ""};
    identity.event = metric_is_sum(metric) ? event_of_effort(run, name)
                                           : mem_strdup(run_text(run_metric(run, name), "event"));
    if (!has_parentheses)
        return identity;
    if (!*identity.event) {
        free(identity.event);
        identity.event = mem_strndup(open + 1, strlen(open) - strlen("()"));
    }
    size_t event = strlen(identity.event);
    if (event == strlen(open) - strlen("()") && strncmp(open + 1, identity.event, event) == 0)
        identity.length = (size_t)(open - 1 - name);
    return identity;
}

static struct identities identify_all(const struct compared_run *run)
{
    const struct metrics *metrics = &run->db->metrics;
    struct identities identities = {.at = mem_alloc((metrics->n + 1) * sizeof *identities.at)};
    for (; identities.n < metrics->n_stored; identities.n++)
        identities.at[identities.n] = identify(&metrics->at[identities.n], run->run);
    return identities;
}

static void free_identities(struct identities *identities)
{
    for (size_t i = 0; i < identities->n; i++)
        free(identities->at[i].event);
    free(identities->at);
}

/* Whether two texts are equal, or one is unknown. */
static bool agree(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

static bool may_be_same(const struct identity *a, const struct identity *b)
{
    return a->length == b->length && strncmp(a->name, b->name, a->length) == 0 &&
           agree(a->event, b->event) && agree(a->unit, b->unit);
}

/* Whether they are the same without doubt: both name their event, or their names are equal. */
static bool is_same(const struct identity *a, const struct identity *b)
{
    return may_be_same(a, b) && ((*a->event && *b->event) || strcmp(a->name, b->name) == 0);
}

/* The only candidate; all->n if there are none or several. */
static size_t only_candidate(const struct identities *all, const struct identity *wanted)
{
    size_t found = all->n;
    for (size_t i = 0; i < all->n; i++)
        if (may_be_same(&all->at[i], wanted)) {
            if (found < all->n)
                return all->n;
            found = i;
        }
    return found;
}

/* The metric of the other side that is the same as one of the own side; others->n if none is. */
static size_t like(const struct identities *own, size_t metric, const struct identities *others)
{
    const struct identity *wanted = &own->at[metric];
    for (size_t i = 0; i < others->n; i++)
        if (is_same(wanted, &others->at[i]))
            return i;
    size_t found = only_candidate(others, wanted);
    bool is_mutual = found < others->n && only_candidate(own, &others->at[found]) == metric;
    return is_mutual ? found : others->n;
}

/* The other side's work, if that stands for the own side's effort `metric`, which the other side
 * lacks; others->n if there is none. */
static size_t like_effort(const struct metrics *metrics, const struct identities *own,
                          size_t metric, const struct identities *others)
{
    const char *work = efficiency_part_name(WORK);
    struct efficiency event;
    size_t from = 0;
    while (metric_is_sum(&metrics->at[metric]) && efficiency_next(metrics, &from, &event)) {
        if (event.at[EFFORT] != metric)
            continue;
        struct identity wanted = own->at[metric];
        wanted.name = work;
        wanted.length = strlen(work);
        size_t i = only_candidate(others, &wanted);
        if (i < others->n)
            return i;
    }
    return others->n;
}

/* Adds the pairs of a side's metrics, unless they are in the list already. */
static void add_pairs(struct metric_pairs *pairs, const struct metrics *metrics, int side,
                      const struct identities all[SIDES])
{
    const struct identities *own = &all[side], *others = &all[1 - side];
    for (size_t m = 0; m < own->n; m++) {
        size_t found = like(own, m, others);
        bool is_paired = side == 1 && found < others->n;
        if (found == others->n)
            found = like_effort(metrics, own, m, others);
        if (found == others->n || is_paired)
            continue;
        struct metric_pair pair;
        pair.sides[side] = m;
        pair.sides[1 - side] = found;
        vec_push(pairs, pair);
    }
}

struct metric_pairs metric_pairs_of(const struct compared_run *sides)
{
    struct metric_pairs pairs = {0};
    struct identities all[SIDES];
    for (int side = 0; side < SIDES; side++)
        all[side] = identify_all(&sides[side]);
    for (int side = 0; side < SIDES; side++)
        add_pairs(&pairs, &sides[side].db->metrics, side, all);
    for (int side = 0; side < SIDES; side++)
        free_identities(&all[side]);
    return pairs;
}

void metric_add_event(const struct compared_run sides[SIDES], int side, size_t metric,
                      struct text *out)
{
    const struct metrics *others = &sides[1 - side].db->metrics;
    struct identity own = identify(&sides[side].db->metrics.at[metric], sides[side].run);
    size_t other = metrics_find(others, own.name);
    if (other < others->n_stored) {
        struct identity identity = identify(&others->at[other], sides[1 - side].run);
        if (!agree(own.event, identity.event))
            text_printf(out, " (of %s)", own.event);
        free(identity.event);
    }
    free(own.event);
}
