#include "viewer-tui/compare/metric-pairs.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"

#include <stdlib.h>
#include <string.h>

/* A part of a text. */
struct piece {
    const char *at;
    size_t n;
};

/* What identifies a metric. */
struct identity {
    const char *full_name;
    struct piece name;        /* "overhead:spawn" of "overhead:spawn (CPUTIME)" */
    struct piece event, unit; /* empty if unknown */
};

struct identities {
    struct identity *at;
    size_t n;
};

static bool are_equal(struct piece a, struct piece b)
{
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

/* Whether two texts are equal, or one is unknown. */
static bool agree(struct piece a, struct piece b)
{
    return a.n == 0 || b.n == 0 || are_equal(a, b);
}

/* The name of the metric that has its event: an effort has that of its work. The caller frees. */
static char *name_with_event(const struct metric *metric)
{
    return metric_is_sum(metric) ? mem_printf("%s%s", efficiency_part_name(WORK), metric_event(metric))
                                 : mem_strdup(metric->name);
}

double metric_period(const struct metric *metric, const json_t *run)
{
    autofree char *measured = name_with_event(metric);
    double period = run_period(run, measured);
    return period;
}

/* The event is that of run.json, or else that in the name, which then is no part of it. */
static struct identity identify(const struct metric *metric, const json_t *run)
{
    const char *name = metric->name, *unit = run ? metric->unit : "";
    autofree char *measured = name_with_event(metric);
    const char *event = run_text(run_metric(run, measured), "event");
    struct piece in_name = {name + metric->of.quantity + strlen(" ("), 0};
    if (metric->of.event)
        in_name.n = (size_t)metric->of.event - strlen(" ()");
    struct identity identity = {name, {name, strlen(name)}, {event, strlen(event)}, {unit, strlen(unit)}};
    if (identity.event.n == 0)
        identity.event = in_name;
    if (metric->of.event && are_equal(identity.event, in_name))
        identity.name.n = (size_t)metric->of.quantity;
    return identity;
}

static bool may_be_same(const struct identity *a, const struct identity *b)
{
    return are_equal(a->name, b->name) && agree(a->event, b->event) && agree(a->unit, b->unit);
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
    for (size_t i = 0; i < others->n; i++) {
        const struct identity *other = &others->at[i];
        bool is_without_doubt = (wanted->event.n && other->event.n) || strcmp(wanted->full_name, other->full_name) == 0;
        if (is_without_doubt && may_be_same(wanted, other))
            return i;
    }
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
        wanted.name = (struct piece){work, strlen(work)};
        size_t i = only_candidate(others, &wanted);
        if (i < others->n)
            return i;
    }
    return others->n;
}

/* Adds the pairs of a side's metrics, unless they are in the list already. */
static void add_pairs(metric_pair_list *pairs, const struct metrics *metrics, int side,
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

metric_pair_list metric_pairs_of(const struct merged_runs *merged)
{
    metric_pair_list pairs = {0};
    struct identities all[SIDES];
    for (int side = 0; side < SIDES; side++) {
        const struct merged_run *run = merged_first_run(merged, (size_t)side);
        const struct metrics *metrics = &run->db->metrics;
        all[side] = (struct identities){mem_alloc((metrics->n + 1) * sizeof *all[side].at), metrics->n_stored};
        for (size_t m = 0; m < metrics->n_stored; m++)
            all[side].at[m] = identify(&metrics->at[m], run->run);
    }
    for (int side = 0; side < SIDES; side++)
        add_pairs(&pairs, &merged_first_run(merged, (size_t)side)->db->metrics, side, all);
    for (int side = 0; side < SIDES; side++)
        free(all[side].at);
    return pairs;
}

void metric_add_event(const struct merged_runs *merged, int side, size_t metric, struct text *out)
{
    const struct merged_run *run = merged_first_run(merged, (size_t)side);
    const struct merged_run *other_run = merged_first_run(merged, (size_t)(1 - side));
    const struct metrics *others = &other_run->db->metrics;
    struct identity own = identify(&run->db->metrics.at[metric], run->run);
    size_t other = metrics_find(others, own.full_name);
    if (other < others->n_stored && !agree(own.event, identify(&others->at[other], other_run->run).event))
        text_printf(out, " (of %.*s)", (int)own.event.n, own.event.at);
}
