#include "viewer-tui/compare/comparison.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *comparison_column(const struct comparison *comparison, enum merged_column column)
{
    switch (column) {
    case MERGED_DIFFERENCE:
        return comparison->options->scaling == NO_SCALING ? "difference" : "loss";
    case MERGED_RATIO: return "ratio";
    case MERGED_UNCERTAINTY: return "uncertainty";
    default: return comparison->options->names[column];
    }
}

/* What the runs of a side know of a quantity. */
struct knowledge_of_side {
    enum metric_state state; /* of the run that knows least */
    const char *why;
    bool bounds_total, is_zero;
};

static struct knowledge_of_side knowledge_of(const struct comparison *comparison, size_t quantity, int side)
{
    const struct merged_runs *merged = &comparison->merged;
    struct knowledge_of_side known = {.state = METRIC_MEASURED, .is_zero = true};
    bool is_kind = false; /* a run without overhead of a kind has none */
    for (size_t run = 0; run < merged->runs.n; run++) {
        size_t source = merged->sources.at[quantity * merged->runs.n + run];
        if (merged->runs.at[run].group != (size_t)side || (is_kind && source == SIZE_MAX))
            continue;
        const struct metric *metric = source == SIZE_MAX ? NULL : &merged->runs.at[run].db->metrics.at[source];
        enum metric_state state = metric ? metric->state : METRIC_NOT_MEASURED;
        if (state > known.state) {
            known.state = state;
            known.why = metric ? metric->why : "one of its runs lacks it";
        }
        known.bounds_total |= metric && metric->bounds_total;
        known.is_zero &= metric && metric->is_zero;
        is_kind |= metric && metric->kind.name;
    }
    return known;
}

/* Sets the state of a column. Differences and ratios of lower bounds are not defined: they may be
 * more or less than those of the bounds. */
static void set_state(struct comparison *comparison, enum merged_column column,
                      const struct knowledge_of_side sides[SIDES], struct metric *metric)
{
    if (column < SIDES) {
        metric_set_state(metric, sides[column].state, sides[column].why);
        metric->bounds_total = sides[column].bounds_total;
        return;
    }
    for (int side = 0; side < SIDES; side++) {
        if (sides[side].state == METRIC_MEASURED)
            continue;
        bool is_bound = sides[side].state == METRIC_LOWER_BOUND;
        char *why = mem_printf("%s in %s: %s", is_bound ? "only a lower bound" : "not measured",
                               comparison->options->names[side], sides[side].why);
        metric_set_state(metric, METRIC_NOT_MEASURED, merged_keep(&comparison->merged, why));
        return;
    }
}

double comparison_workers(const struct comparison *comparison, int side)
{
    const struct compared_run *of_side = &comparison->sides[side];
    double given = comparison->options->workers[side], measured = run_workers(of_side->run);
    if (given > 0 || measured > 0)
        return given > 0 ? given : measured;
    return (double)threads_count(of_side->db);
}

/* Factor from a cost of the left side to the cost expected on the right side. */
static double expected_factor(const struct comparison *comparison)
{
    if (comparison->options->scaling != WEAK_SCALING)
        return 1;
    return comparison_workers(comparison, 1) / comparison_workers(comparison, 0);
}

/* Appends what a pair of metrics costs in each run, as a quantity. */
static void add_quantity(struct comparison *comparison, const struct metric_pair *pair)
{
    struct merged_runs *merged = &comparison->merged;
    for (size_t run = 0; run < merged->runs.n; run++) {
        size_t side = merged->runs.at[run].group, index = pair->sides[side];
        const struct metrics *metrics = &merged->runs.at[run].db->metrics;
        const struct metric *wanted = &comparison->sides[side].db->metrics.at[index];
        if (merged->runs.at[run].db != comparison->sides[side].db)
            index = metrics_find(metrics, wanted->name);
        vec_push(&merged->sources, index < metrics->n_stored ? index : SIZE_MAX);
    }
    for (int side = 0; side < SIDES; side++) {
        const struct compared_run *of = &comparison->sides[side];
        vec_push(&merged->periods, metric_period(&of->db->metrics.at[pair->sides[side]], of->run));
    }
}

/* Adds a column of a metric that both sides have. Its name is that of the effort if only one is, else the one that names
 * its event. */
static void add_column(struct comparison *comparison, const struct metric_pair *pair, size_t quantity,
                       enum merged_column column)
{
    double factor = expected_factor(comparison);
    struct compared_metric from = {column, {pair->sides[0], pair->sides[1]}, factor};
    struct merged_term left = {0, quantity, 1}, right = {1, quantity, 1}, expected = {0, quantity, factor},
                       unexpected = {0, quantity, -factor};
    const struct merged_formula formulas[] = {[MERGED_LEFT] = {FORMULA_SUM, 1, {left}},
                                              [MERGED_RIGHT] = {FORMULA_SUM, 1, {right}},
                                              [MERGED_DIFFERENCE] = {FORMULA_SUM, 2, {right, unexpected}},
                                              [MERGED_RATIO] = {FORMULA_QUOTIENT, 2, {right, expected}},
                                              [MERGED_UNCERTAINTY] = {FORMULA_UNCERTAINTY, 2, {right, unexpected}}};
    const struct metric *sides[SIDES];
    struct knowledge_of_side known[SIDES];
    for (int side = 0; side < SIDES; side++) {
        sides[side] = &comparison->sides[side].db->metrics.at[pair->sides[side]];
        known[side] = knowledge_of(comparison, quantity, side);
    }
    bool is_left = metric_is_sum(sides[0]) != metric_is_sum(sides[1])
                       ? metric_is_sum(sides[0])
                       : strlen(sides[0]->name) >= strlen(sides[1]->name);
    const struct metric *named = sides[is_left ? 0 : 1];
    char *name = mem_printf(column < SIDES ? "%s [%s]" : "%s %s", named->name,
                            comparison_column(comparison, column));
    struct metric metric = metric_new(merged_keep(&comparison->merged, name));
    bool is_side = column < SIDES;
    metric.source = METRIC_COMPARED;
    metric.compared = (struct metric_comparison){.whole = METRIC_ABSENT, .is_sum = metric_is_sum(named) && is_side};
    metric.is_ratio = column >= MERGED_RATIO;
    if (column != MERGED_RATIO)
        metric_set_unit(&metric, named->unit);
    set_state(comparison, column, known, &metric);
    if (is_side && strcmp(sides[column]->name, named->name) != 0)
        metric.compared.called = sides[column]->name;
    for (int side = 0; side < SIDES; side++)
        metric.compared.sides[side] = quantity * MERGED_COLUMNS + (size_t)side;
    for (int set = 0; set < METRIC_SETS; set++)
        metric.is_in[set] = sides[0]->is_in[set] || sides[1]->is_in[set];
    metric.is_internal = sides[0]->is_internal && sides[1]->is_internal;
    metric.is_aside = sides[0]->is_aside && sides[1]->is_aside;
    memcpy(metric.is_part_hidden, named->is_part_hidden, sizeof metric.is_part_hidden);
    metric.is_asked_for = sides[0]->is_asked_for || sides[1]->is_asked_for;
    metric.is_zero = known[0].is_zero && known[1].is_zero;
    metric.repeats_work = sides[0]->repeats_work && sides[1]->repeats_work;
    if (named->kind.name) {
        metric.kind.name = name + (named->kind.name - named->name);
        metric.kind.length = named->kind.length;
    }
    merged_add(&comparison->merged, metric, formulas[column]);
    vec_push(&comparison->from, from);
}

/* The index of a side's metric in that column; METRIC_ABSENT if the other side lacks the metric. */
static int find_column(const struct comparison *comparison, enum merged_column column, int side,
                       int metric)
{
    for (size_t m = 0; metric != METRIC_ABSENT && m < comparison->from.n; m++)
        if (comparison->from.at[m].column == column && comparison->from.at[m].sides[side] == (size_t)metric)
            return (int)m;
    return METRIC_ABSENT;
}

/* Copies the relations between metrics (part of, kind of) to their columns. */
static void relate(struct comparison *comparison)
{
    struct metrics *metrics = &comparison->merged.metrics;
    for (size_t m = 0; m < metrics->n; m++) {
        const struct compared_metric *from = &comparison->from.at[m];
        int side = from->column == MERGED_LEFT ? 0 : 1;
        const struct metric *of_side = &comparison->sides[side].db->metrics.at[from->sides[side]];
        metrics->at[m].kind.overhead =
            find_column(comparison, from->column, side, of_side->kind.overhead);
        if (from->column < SIDES)
            metrics->at[m].sum = find_column(comparison, from->column, side, of_side->sum);
    }
    int whole = comparison->options->scaling == NO_SCALING ? 0 : 1;
    for (size_t m = 0; m < metrics->n; m++)
        if (comparison->from.at[m].column == MERGED_DIFFERENCE) {
            struct metric *difference = &metrics->at[m];
            size_t base = difference->compared.sides[whole];
            difference->compared.whole = (int)metrics_whole(metrics, base);
            difference->compared.is_of_effort = metric_is_of_effort(&metrics->at[base]);
        }
}

/* Makes the columns of all metrics that both sides have. */
static void make_metrics(struct comparison *comparison)
{
    struct metric_pairs pairs = metric_pairs_of(comparison->sides);
    bool are_repeated = comparison->merged.runs.n > SIDES;
    for (size_t i = 0; i < pairs.n; i++) {
        add_quantity(comparison, &pairs.at[i]);
        for (int column = MERGED_LEFT; column < MERGED_COLUMNS; column++)
            add_column(comparison, &pairs.at[i], i, (enum merged_column)column);
    }
    for (size_t i = 0; i < pairs.n && are_repeated; i++)
        add_column(comparison, &pairs.at[i], i, MERGED_UNCERTAINTY);
    vec_free(&pairs);
    relate(comparison);
    comparison->merged.metrics.set = comparison->sides[0].db->metrics.set;
}

struct comparison *comparison_new(const struct merged_run *runs, size_t n, const struct comparison_options *options)
{
    struct comparison *comparison = mem_alloc(sizeof *comparison);
    merged_runs_init(&comparison->merged, runs, n);
    comparison->merged.are_versions = true;
    comparison->merged.first_shown = merged_group_first(&comparison->merged, 1);
    const struct merged_run *left = &runs[0], *right = &runs[comparison->merged.first_shown];
    comparison->sides[0] = (struct compared_run){left->db, left->run};
    comparison->sides[1] = (struct compared_run){right->db, right->run};
    comparison->options = options;
    make_metrics(comparison);
    return comparison;
}

void comparison_free(struct comparison *comparison)
{
    if (!comparison)
        return;
    merged_runs_free(&comparison->merged);
    vec_free(&comparison->from);
    free(comparison);
}

struct sorting comparison_sorting(const struct comparison *comparison, enum cost_part part)
{
    const struct metrics *metrics = &comparison->merged.metrics;
    size_t by = metrics_first_measured(metrics);
    while (by < metrics->n_stored &&
           (comparison->from.at[by].column != MERGED_DIFFERENCE || !metric_is_measured(&metrics->at[by])))
        by++;
    if (by == metrics->n_stored)
        by = metrics_first_measured(metrics);
    size_t m = metrics_shown(metrics, 0);
    while (m < metrics->n && !metric_is_sum(&metrics->at[m]))
        m = metrics_shown(metrics, m + 1);
    if (m < metrics->n && comparison->options->scaling != NO_SCALING)
        by = metrics->at[m].compared.sides[0] + MERGED_DIFFERENCE;
    return (struct sorting){.metric = by, .part = metric_part(&metrics->at[by], part)};
}

struct view *comparison_side(const struct view *view, int side)
{
    return merged_view_of(view, merged_group_first(merged_runs_of(view), (size_t)side));
}

bool comparison_has(const struct view *view, uint32_t row, int side)
{
    const struct merged_runs *merged = merged_runs_of(view);
    const uint32_t *rows = merged_rows(view, row);
    for (size_t run = 0; run < merged->runs.n; run++)
        if (merged->runs.at[run].group == (size_t)side && rows[run] != NOTHING)
            return true;
    return false;
}

char *comparison_metric_name(const struct comparison *comparison, size_t metric)
{
    assert(comparison->from.at[metric].column == MERGED_LEFT);
    const char *name = comparison->merged.metrics.at[metric].name;
    size_t side = strlen(comparison->options->names[0]) + strlen(" []");
    return mem_strndup(name, strlen(name) - side);
}

void comparison_only_in_one(const struct comparison *comparison, struct text *out)
{
    for (int side = 0; side < SIDES; side++) {
        const struct metrics *metrics = &comparison->sides[side].db->metrics;
        struct text list = {0};
        for (size_t m = 0; m < metrics->n_stored; m++) {
            if (!metrics->at[m].is_in[SET_CHOSEN] ||
                find_column(comparison, (enum merged_column)side, side, (int)m) != METRIC_ABSENT)
                continue;
            text_printf(&list, "%s%s", list.n ? ", " : "", metrics->at[m].name);
            metric_add_event(comparison->sides, side, m, &list);
        }
        if (list.n)
            text_printf(out, " Only in %s: %s.", comparison->options->names[side], text_string(&list));
        vec_free(&list);
    }
}

/* Adds " Compared with each other: a [LEFT] and b [RIGHT].", the shown metrics with different
 * names. */
static void add_other_names(const struct comparison *comparison, struct text *out)
{
    const char *left = comparison->options->names[0], *right = comparison->options->names[1];
    struct text list = {0};
    for (size_t m = 0; m < comparison->from.n && comparison->from.at[m].column < MERGED_COLUMNS; m += MERGED_COLUMNS) {
        const size_t *sides = comparison->from.at[m].sides;
        const struct metric *column = &comparison->merged.metrics.at[m];
        if (column->is_in[SET_CHOSEN] && (metric_called(&column[0]) || metric_called(&column[1])))
            text_printf(&list, "%s%s [%s] and %s [%s]", list.n ? ", " : "",
                        comparison->sides[0].db->metrics.at[sides[0]].name, left,
                        comparison->sides[1].db->metrics.at[sides[1]].name, right);
    }
    if (list.n)
        text_printf(out, " Compared with each other: %s.", text_string(&list));
    vec_free(&list);
}

void comparison_explain(const struct comparison *comparison, struct text *out)
{
    const char *left = comparison->options->names[0], *right = comparison->options->names[1];
    struct text text = {0};
    switch (comparison->options->scaling) {
    case NO_SCALING: text_printf(&text, "Differences: %s - %s, in percent of %s.", right, left, left); break;
    case STRONG_SCALING:
        text_printf(&text, "Losses (strong scaling): %s - %s, in percent of %s.", right, left, right);
        break;
    case WEAK_SCALING:
        text_printf(&text, "Losses (weak scaling): %s - %g * %s, in percent of %s.", right,
                    expected_factor(comparison), left, right);
        break;
    }
    add_other_names(comparison, &text);
    comparison_only_in_one(comparison, &text);
    text_add_clean(out, text_string(&text), describe_in_ascii());
    vec_free(&text);
}
