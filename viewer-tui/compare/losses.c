#include "viewer-tui/compare/losses.h"

#include "viewer-tui/db/run.h"

/* What the databases have. */
enum quantity { WORK_OF_RUN, OVERHEAD_OF_RUN, IDLENESS_OF_RUN, QUANTITIES };

static const struct {
    const char *name, *why_not;
} quantities[QUANTITIES] = {{"work", "a run has no metric of work"},
                            {"overhead", "a run has no overhead: it needs a runtime with tags"},
                            {"idleness", "a run has no idleness: it needs an agent"}};

/* The metrics of a number of workers, and what they are sums of. */
enum loss_part { LOSS, INFLATION, LOST_OVERHEAD, LOST_IDLENESS, WORK_DONE, EFFORT_MADE, LOSS_PARTS };

static const struct {
    const char *name;
    bool has[QUANTITIES];
    bool is_beyond_one; /* less the work with one worker */
    bool is_sum;        /* of other metrics */
} parts[LOSS_PARTS] = {[LOSS] = {"loss", {1, 1, 1}, true, true},
                       [INFLATION] = {"inflation", {1, 0, 0}, true, false},
                       [LOST_OVERHEAD] = {"overhead", {0, 1, 0}, false, false},
                       [LOST_IDLENESS] = {"idleness", {0, 0, 1}, false, false},
                       [WORK_DONE] = {"work", {1, 0, 0}, false, false},
                       [EFFORT_MADE] = {"effort", {1, 1, 1}, false, true}};

/* Which runs of a group lack a part. */
struct missing {
    bool of[QUANTITIES], cpus;
};

static struct missing missing_in(const struct merged_runs *losses, size_t group)
{
    struct missing missing = {0};
    for (size_t i = 0; i < losses->runs.n; i++) {
        const struct merged_run *run = &losses->runs.at[i];
        unsigned cpus = run_most_cpus(run->run);
        for (size_t q = 0; q < QUANTITIES && run->group == group; q++)
            missing.of[q] |= merged_source(losses, q, i) == SIZE_MAX;
        missing.cpus |= run->group == group && cpus && run->workers > cpus;
    }
    return missing;
}

/* Why a part that is no sum is unknown; NULL if it is known. */
static const char *why_not(int part, const struct missing *missing, bool has_one)
{
    for (int q = 0; q < QUANTITIES; q++)
        if (parts[part].has[q] && missing->of[q])
            return quantities[q].why_not;
    return parts[part].is_beyond_one && !has_one ? "no run with one worker" : NULL;
}

/* A sum is not measured if one of its parts is unknown. It is no lower bound: inflation may be negative. */
static void set_state(struct merged_runs *losses, struct metric *metric, int part, const struct missing *missing,
                      bool has_one)
{
    const char *why = parts[part].is_sum ? NULL : why_not(part, missing, has_one);
    for (int p = INFLATION; parts[part].is_sum && !why && p <= WORK_DONE; p++) {
        bool is_added = part == LOSS ? p != WORK_DONE : p != INFLATION;
        const char *why_part = why_not(p, missing, has_one);
        if (is_added && why_part)
            why = merged_keep(losses, mem_printf("without %s: %s", parts[p].name, why_part));
    }
    if (why)
        metric_set_state(metric, METRIC_NOT_MEASURED, why);
    else if (missing->cpus && parts[part].has[IDLENESS_OF_RUN])
        metric_set_state(metric, METRIC_LOWER_BOUND, "idleness counts CPUs, and there are fewer CPUs than workers");
}

/* `one`: the group with one worker; n_groups: there is none. */
static struct merged_formula formula_of(const struct merged_runs *losses, size_t group, int part, size_t one)
{
    struct merged_formula formula = {.operation = FORMULA_SUM};
    for (size_t q = 0; q < QUANTITIES; q++) {
        if (parts[part].has[q])
            formula.terms[formula.n_terms++] = (struct merged_term){group, q, 1};
        if (q == WORK_OF_RUN && parts[part].is_beyond_one && one < losses->n_groups)
            formula.terms[formula.n_terms++] = (struct merged_term){one, q, -1};
    }
    return formula;
}

/* The metrics of a number of workers. */
static void add_metrics(struct merged_runs *losses, size_t group, size_t one)
{
    struct missing missing = missing_in(losses, group);
    unsigned workers = merged_first_run(losses, group)->workers;
    for (int part = 0; part < LOSS_PARTS; part++) {
        struct metric metric = metric_new(merged_keep(losses, mem_printf("%s [%u]", parts[part].name, workers)));
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

struct merged_runs *losses_new(const struct merged_run *runs, size_t n)
{
    struct merged_runs *losses = merged_runs_new(runs, n);
    losses->title = "loss = inflation + overhead + idleness, sums over workers, means over runs; "
                    "inflation: work that one worker does not have";
    for (int q = 0; q < QUANTITIES; q++)
        for (size_t i = 0; i < n; i++) {
            size_t found = metrics_find_measured(&runs[i].db->metrics, quantities[q].name);
            vec_push(&losses->sources, found < runs[i].db->metrics.n_stored ? found : SIZE_MAX);
        }
    size_t one = runs[n - 1].workers == 1 ? losses->n_groups - 1 : losses->n_groups;
    for (size_t group = 0; group < losses->n_groups; group++)
        add_metrics(losses, group, one);
    return losses;
}
