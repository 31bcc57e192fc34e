#include "viewer-tui/compare/losses.h"

#include <stdlib.h>

static const char *const part_names[LOSS_PARTS] = {[LOSS] = "loss",
                                                   [INFLATION] = "inflation",
                                                   [LOST_OVERHEAD] = "overhead",
                                                   [LOST_IDLENESS] = "idleness",
                                                   [WORK_DONE] = "work",
                                                   [EFFORT_MADE] = "effort"};

static const char *keep(struct losses *losses, char *text)
{
    vec_push(&losses->texts, text);
    return text;
}

/* ---- groups ---- */

static size_t group_of(const struct losses *losses, unsigned workers)
{
    size_t i = 0;
    while (i < losses->groups.n && losses->groups.at[i].workers != workers)
        i++;
    return i;
}

static int by_workers_descending(const void *left, const void *right)
{
    unsigned a = ((const struct loss_group *)left)->workers;
    unsigned b = ((const struct loss_group *)right)->workers;
    return (a < b) - (a > b);
}

static void make_groups(struct losses *losses, const struct loss_run *runs)
{
    for (size_t i = 0; i < losses->n_runs; i++) {
        size_t group = group_of(losses, runs[i].workers);
        if (group == losses->groups.n)
            vec_push(&losses->groups, (struct loss_group){runs[i].workers, 0});
        losses->groups.at[group].n_runs++;
    }
    qsort(losses->groups.at, losses->groups.n, sizeof *losses->groups.at, by_workers_descending);
    losses->one = group_of(losses, 1);
}

/* ---- metrics ---- */

static void find_sources(struct losses *losses, const struct loss_run *runs)
{
    losses->sources = mem_alloc(losses->n_runs * sizeof *losses->sources);
    for (size_t i = 0; i < losses->n_runs; i++) {
        const struct metrics *metrics = &runs[i].db->metrics;
        losses->sources[i] = (struct loss_sources){.group = group_of(losses, runs[i].workers),
                                                   .work = metrics_find_measured(metrics, "work"),
                                                   .overhead = metrics_find_measured(metrics, "overhead"),
                                                   .idleness = metrics_find_measured(metrics, "idleness")};
    }
}

/* Which runs of a group lack a part. */
struct missing {
    bool work, overhead, idleness, cpus;
};

static struct missing missing_in(const struct losses *losses, const struct loss_run *runs,
                                 size_t group)
{
    struct missing missing = {0};
    for (size_t i = 0; i < losses->n_runs; i++) {
        const struct loss_sources *sources = &losses->sources[i];
        size_t none = runs[i].db->metrics.n;
        if (sources->group != group)
            continue;
        missing.work |= sources->work == none;
        missing.overhead |= sources->overhead == none;
        missing.idleness |= sources->idleness == none;
        missing.cpus |= runs[i].cpus && runs[i].workers > runs[i].cpus;
    }
    return missing;
}

/* Why a part is unknown; NULL if it is known. */
static const char *why_not(enum loss_part part, const struct missing *missing, bool has_one)
{
    static const char *const no_work = "a run has no metric of work";
    static const char *const no_overhead = "a run has no overhead: it needs a runtime with tags";
    static const char *const no_idleness = "a run has no idleness: it needs an agent";
    static const char *const no_one = "no run with one worker";
    switch (part) {
    case INFLATION: return missing->work ? no_work : has_one ? NULL : no_one;
    case LOST_OVERHEAD: return missing->overhead ? no_overhead : NULL;
    case LOST_IDLENESS: return missing->idleness ? no_idleness : NULL;
    case WORK_DONE: return missing->work ? no_work : NULL;
    default: return NULL;
    }
}

/* A sum is not measured if one of its parts is unknown. It is no lower bound: inflation may be
 * negative. */
static void set_state(struct losses *losses, struct metric *metric, enum loss_part part,
                      const struct missing *missing)
{
    bool has_one = losses->one < losses->groups.n;
    const char *why = why_not(part, missing, has_one);
    bool is_sum = part == LOSS || part == EFFORT_MADE;
    for (int p = INFLATION; is_sum && p <= WORK_DONE; p++) {
        bool is_added = part == LOSS ? p != WORK_DONE : p != INFLATION;
        const char *why_part = why_not((enum loss_part)p, missing, has_one);
        if (is_added && why_part && !why)
            why = keep(losses, mem_printf("without %s: %s", part_names[p], why_part));
    }
    if (why)
        metric_set_state(metric, METRIC_NOT_MEASURED, why);
    else if (missing->cpus && (part == LOST_IDLENESS || is_sum))
        metric_set_state(metric, METRIC_LOWER_BOUND,
                         "idleness counts CPUs, and there are fewer CPUs than workers");
}

static void add_metric(struct losses *losses, size_t group, enum loss_part part,
                       const struct missing *missing)
{
    struct metrics *metrics = &losses->metrics;
    char *name = mem_printf("%s [%u]", part_names[part], losses->groups.at[group].workers);
    struct metric metric = metric_new(keep(losses, name));
    metric_set_unit(&metric, "s");
    set_state(losses, &metric, part, missing);
    metric.is_aside = part == WORK_DONE || part == EFFORT_MADE || (group > 0 && part != LOSS);
    if (part != EFFORT_MADE)
        metric.sum = (int)(group * LOSS_PARTS + EFFORT_MADE);
    for (int set = 0; set < METRIC_SETS; set++)
        metric.is_in[set] = true;
    metrics->at = mem_resize(metrics->at, metrics->n + 1, sizeof *metrics->at);
    metrics->at[metrics->n++] = metric;
    metrics->n_stored = metrics->n;
}

struct losses *losses_new(const struct loss_run *runs, size_t n)
{
    struct losses *losses = mem_alloc(sizeof *losses);
    losses->n_runs = n;
    make_groups(losses, runs);
    find_sources(losses, runs);
    for (size_t group = 0; group < losses->groups.n; group++) {
        struct missing missing = missing_in(losses, runs, group);
        for (int part = 0; part < LOSS_PARTS; part++)
            add_metric(losses, group, (enum loss_part)part, &missing);
    }
    return losses;
}

void losses_free(struct losses *losses)
{
    if (!losses)
        return;
    for (size_t i = 0; i < losses->texts.n; i++)
        free(losses->texts.at[i]);
    vec_free(&losses->texts);
    vec_free(&losses->groups);
    metrics_free(&losses->metrics);
    free(losses->sources);
    free(losses);
}
