#include "viewer-tui/compare/losses.h"

#include <stdlib.h>

/* What a metric is computed from. */
enum loss_part { LOSS, INFLATION, LOST_OVERHEAD, LOST_IDLENESS, WORK_DONE, EFFORT_MADE, LOSS_PARTS };

/* What the databases have. */
enum quantity { WORK_OF_RUN, OVERHEAD_OF_RUN, IDLENESS_OF_RUN, QUANTITIES };

static const char *const quantity_names[QUANTITIES] = {"work", "overhead", "idleness"};

static const char *const part_names[LOSS_PARTS] = {[LOSS] = "loss",
                                                   [INFLATION] = "inflation",
                                                   [LOST_OVERHEAD] = "overhead",
                                                   [LOST_IDLENESS] = "idleness",
                                                   [WORK_DONE] = "work",
                                                   [EFFORT_MADE] = "effort"};

/* Which runs of a group lack a part. */
struct missing {
    bool of[QUANTITIES], cpus;
};

static struct missing missing_in(const struct merged_runs *losses, const struct loss_run *runs, size_t group)
{
    struct missing missing = {0};
    size_t n_runs = losses->runs.n;
    for (size_t i = 0; i < n_runs; i++) {
        if (losses->runs.at[i].group != group)
            continue;
        for (size_t q = 0; q < QUANTITIES; q++)
            missing.of[q] |= losses->sources.at[q * n_runs + i] == SIZE_MAX;
        missing.cpus |= runs[i].cpus && runs[i].workers > runs[i].cpus;
    }
    return missing;
}

/* Why a part is unknown; NULL if it is known. */
static const char *why_not(enum loss_part part, const struct missing *missing, bool has_one)
{
    static const char *const no[QUANTITIES] = {"a run has no metric of work",
                                               "a run has no overhead: it needs a runtime with tags",
                                               "a run has no idleness: it needs an agent"};
    switch (part) {
    case INFLATION: return missing->of[WORK_OF_RUN] ? no[WORK_OF_RUN] : has_one ? NULL : "no run with one worker";
    case LOST_OVERHEAD: return missing->of[OVERHEAD_OF_RUN] ? no[OVERHEAD_OF_RUN] : NULL;
    case LOST_IDLENESS: return missing->of[IDLENESS_OF_RUN] ? no[IDLENESS_OF_RUN] : NULL;
    case WORK_DONE: return missing->of[WORK_OF_RUN] ? no[WORK_OF_RUN] : NULL;
    default: return NULL;
    }
}

/* A sum is not measured if one of its parts is unknown. It is no lower bound: inflation may be negative. */
static void set_state(struct merged_runs *losses, struct metric *metric, enum loss_part part,
                      const struct missing *missing, bool has_one)
{
    const char *why = why_not(part, missing, has_one);
    bool is_sum = part == LOSS || part == EFFORT_MADE;
    for (int p = INFLATION; is_sum && p <= WORK_DONE; p++) {
        bool is_added = part == LOSS ? p != WORK_DONE : p != INFLATION;
        const char *why_part = why_not((enum loss_part)p, missing, has_one);
        if (is_added && why_part && !why)
            why = merged_keep(losses, mem_printf("without %s: %s", part_names[p], why_part));
    }
    if (why)
        metric_set_state(metric, METRIC_NOT_MEASURED, why);
    else if (missing->cpus && (part == LOST_IDLENESS || is_sum))
        metric_set_state(metric, METRIC_LOWER_BOUND, "idleness counts CPUs, and there are fewer CPUs than workers");
}

/* `one`: the group with one worker; n_groups: there is none. */
static struct merged_formula formula_of(const struct merged_runs *losses, size_t group, enum loss_part part, size_t one)
{
    struct merged_term work = {group, WORK_OF_RUN, 1}, serial = {one, WORK_OF_RUN, -1},
                       overhead = {group, OVERHEAD_OF_RUN, 1}, idleness = {group, IDLENESS_OF_RUN, 1};
    if (one == losses->n_groups)
        serial = (struct merged_term){group, WORK_OF_RUN, 0};
    switch (part) {
    case LOSS: return (struct merged_formula){FORMULA_SUM, 4, {work, serial, overhead, idleness}};
    case INFLATION: return (struct merged_formula){FORMULA_SUM, 2, {work, serial}};
    case LOST_OVERHEAD: return (struct merged_formula){FORMULA_SUM, 1, {overhead}};
    case LOST_IDLENESS: return (struct merged_formula){FORMULA_SUM, 1, {idleness}};
    case WORK_DONE: return (struct merged_formula){FORMULA_SUM, 1, {work}};
    default: return (struct merged_formula){FORMULA_SUM, 3, {work, overhead, idleness}};
    }
}

/* The metrics of a number of workers. */
static void add_metrics(struct merged_runs *losses, const struct loss_run *runs, size_t group, size_t one)
{
    struct missing missing = missing_in(losses, runs, group);
    unsigned workers = runs[merged_group_first(losses, group)].workers;
    for (int p = 0; p < LOSS_PARTS; p++) {
        enum loss_part part = (enum loss_part)p;
        struct metric metric = metric_new(merged_keep(losses, mem_printf("%s [%u]", part_names[part], workers)));
        metric_set_unit(&metric, "s");
        set_state(losses, &metric, part, &missing, one < losses->n_groups);
        metric.is_aside = part == WORK_DONE || part == EFFORT_MADE || (group > 0 && part != LOSS);
        if (part != EFFORT_MADE)
            metric.sum = (int)(group * LOSS_PARTS + EFFORT_MADE);
        for (int set = 0; set < METRIC_SETS; set++)
            metric.is_in[set] = true;
        merged_add(losses, metric, formula_of(losses, group, part, one));
    }
}

struct merged_runs *losses_new(const struct loss_run *runs, size_t n)
{
    struct merged_runs *losses = mem_alloc(sizeof *losses);
    struct merged_run *merged = mem_alloc(n * sizeof *merged);
    for (size_t i = 0; i < n; i++) {
        bool is_new = i > 0 && runs[i].workers != runs[i - 1].workers;
        merged[i] = (struct merged_run){.db = runs[i].db, .group = i ? merged[i - 1].group + is_new : 0};
    }
    merged_runs_init(losses, merged, n);
    free(merged);
    losses->title = "loss = inflation + overhead + idleness, sums over workers, means over runs; "
                    "inflation: work that one worker does not have";
    for (int q = 0; q < QUANTITIES; q++)
        for (size_t i = 0; i < n; i++) {
            size_t found = metrics_find_measured(&runs[i].db->metrics, quantity_names[q]);
            vec_push(&losses->sources, found < runs[i].db->metrics.n_stored ? found : SIZE_MAX);
        }
    size_t one = runs[n - 1].workers == 1 ? losses->n_groups - 1 : losses->n_groups;
    for (size_t group = 0; group < losses->n_groups; group++)
        add_metrics(losses, runs, group, one);
    return losses;
}

void losses_free(struct merged_runs *losses)
{
    if (!losses)
        return;
    merged_runs_free(losses);
    free(losses);
}
