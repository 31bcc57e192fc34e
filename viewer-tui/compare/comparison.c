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

/* Sets the state of a column. Differences and ratios of lower bounds are not defined: they may be
 * more or less than those of the bounds. */
static void set_state(struct comparison *comparison, enum merged_column column,
                      const struct metric *const sides[SIDES], struct metric *metric)
{
    if (column < SIDES) {
        metric_set_state(metric, sides[column]->state, sides[column]->why);
        metric->bounds_total = sides[column]->bounds_total;
        return;
    }
    for (int side = 0; side < SIDES; side++) {
        if (sides[side]->state == METRIC_MEASURED)
            continue;
        bool is_bound = metric_is_lower_bound(sides[side]);
        char *why = mem_printf("%s in %s: %s", is_bound ? "only a lower bound" : "not measured",
                               comparison->options->names[side], sides[side]->why);
        metric_set_state(metric, METRIC_NOT_MEASURED, merged_keep(&comparison->merged, why));
        return;
    }
}

/* Adds a column of a metric that both sides have. Its name is that of the effort if only one is, else the one that names
 * its event. */
static void add_column(struct comparison *comparison, struct compared_metric from,
                       const struct metric *const sides[SIDES], struct merged_formula formula)
{
    bool is_left = metric_is_sum(sides[0]) != metric_is_sum(sides[1])
                       ? metric_is_sum(sides[0])
                       : strlen(sides[0]->name) >= strlen(sides[1]->name);
    const struct metric *named = sides[is_left ? 0 : 1];
    char *name = mem_printf(from.column < SIDES ? "%s [%s]" : "%s %s", named->name,
                            comparison_column(comparison, from.column));
    struct metric metric = metric_new(merged_keep(&comparison->merged, name));
    bool is_side = from.column < SIDES;
    metric.source = METRIC_COMPARED;
    metric.compared = (struct metric_comparison){.whole = METRIC_ABSENT, .is_sum = metric_is_sum(named) && is_side};
    metric.is_ratio = from.column >= MERGED_RATIO;
    if (from.column != MERGED_RATIO)
        metric_set_unit(&metric, named->unit);
    set_state(comparison, from.column, sides, &metric);
    if (is_side && strcmp(sides[from.column]->name, named->name) != 0)
        metric.compared.called = sides[from.column]->name;
    size_t left = from.column == MERGED_UNCERTAINTY ? formula.terms[0].quantity * MERGED_COLUMNS
                                                    : comparison->merged.metrics.n - from.column;
    for (int side = 0; side < SIDES; side++)
        metric.compared.sides[side] = left + (size_t)side;
    for (int set = 0; set < METRIC_SETS; set++)
        metric.is_in[set] = sides[0]->is_in[set] || sides[1]->is_in[set];
    metric.is_internal = sides[0]->is_internal && sides[1]->is_internal;
    metric.is_aside = sides[0]->is_aside && sides[1]->is_aside;
    memcpy(metric.is_part_hidden, named->is_part_hidden, sizeof metric.is_part_hidden);
    metric.is_asked_for = sides[0]->is_asked_for || sides[1]->is_asked_for;
    metric.is_zero = sides[0]->is_zero && sides[1]->is_zero;
    metric.repeats_work = sides[0]->repeats_work && sides[1]->repeats_work;
    if (named->kind.name) {
        metric.kind.name = name + (named->kind.name - named->name);
        metric.kind.length = named->kind.length;
    }
    merged_add(&comparison->merged, metric, formula);
    vec_push(&comparison->from, from);
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
}

/* The formula of a column of a quantity. */
static struct merged_formula formula_of(enum merged_column column, size_t quantity, double factor)
{
    struct merged_term left = {0, quantity, 1}, right = {1, quantity, 1}, expected = {0, quantity, factor},
                       unexpected = {0, quantity, -factor};
    switch (column) {
    case MERGED_LEFT: return (struct merged_formula){FORMULA_SUM, 1, {left}};
    case MERGED_RIGHT: return (struct merged_formula){FORMULA_SUM, 1, {right}};
    case MERGED_DIFFERENCE: return (struct merged_formula){FORMULA_SUM, 2, {right, unexpected}};
    case MERGED_RATIO: return (struct merged_formula){FORMULA_QUOTIENT, 2, {right, expected}};
    default: return (struct merged_formula){FORMULA_UNCERTAINTY, 2, {right, unexpected}};
    }
}

static void add_columns(struct comparison *comparison, const struct metric_pair *pair, size_t quantity,
                        enum merged_column first, enum merged_column last)
{
    const struct metric *sides[SIDES];
    for (int side = 0; side < SIDES; side++)
        sides[side] = &comparison->sides[side].db->metrics.at[pair->sides[side]];
    double factor = expected_factor(comparison);
    for (int column = (int)first; column <= (int)last; column++) {
        struct compared_metric from = {(enum merged_column)column, {pair->sides[0], pair->sides[1]}, factor};
        add_column(comparison, from, sides, formula_of(from.column, quantity, factor));
    }
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
        add_columns(comparison, &pairs.at[i], i, MERGED_LEFT, MERGED_RATIO);
    }
    for (size_t i = 0; i < pairs.n && are_repeated; i++)
        add_columns(comparison, &pairs.at[i], i, MERGED_UNCERTAINTY, MERGED_UNCERTAINTY);
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

/* What precedes an item of a list. */
static const char *separator(bool is_first)
{
    return is_first ? "" : ", ";
}

/* Adds " Only in NAME: a, b.", the shown metrics of a side that the other one lacks. */
static void add_only_in(const struct comparison *comparison, int side, struct text *out)
{
    const struct metrics *metrics = &comparison->sides[side].db->metrics;
    struct text list = {0};
    for (size_t m = 0; m < metrics->n_stored; m++) {
        if (!metrics->at[m].is_in[SET_CHOSEN] ||
            find_column(comparison, (enum merged_column)side, side, (int)m) != METRIC_ABSENT)
            continue;
        text_printf(&list, "%s%s", separator(list.n == 0), metrics->at[m].name);
        metric_add_event(comparison->sides, side, m, &list);
    }
    if (list.n)
        text_printf(out, " Only in %s: %s.", comparison->options->names[side], text_string(&list));
    vec_free(&list);
}

/* Adds " Compared with each other: a [LEFT] and b [RIGHT].", the shown metrics with different
 * names. */
static void add_other_names(const struct comparison *comparison, struct text *out)
{
    struct text list = {0};
    for (size_t m = 0; m < comparison->from.n && comparison->from.at[m].column < MERGED_COLUMNS; m += MERGED_COLUMNS) {
        const struct compared_metric *from = &comparison->from.at[m];
        const struct metric *column = &comparison->merged.metrics.at[m];
        if (!column->is_in[SET_CHOSEN] ||
            (!metric_called(&column[0]) && !metric_called(&column[1])))
            continue;
        for (int side = 0; side < SIDES; side++)
            text_printf(&list, "%s%s [%s]", side ? " and " : separator(list.n == 0),
                        comparison->sides[side].db->metrics.at[from->sides[side]].name,
                        comparison->options->names[side]);
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
    case NO_SCALING:
        text_printf(&text, "Differences: %s - %s, in percent of %s.", right, left, left);
        break;
    case STRONG_SCALING:
        text_printf(&text, "Losses (strong scaling): %s - %s, in percent of %s.", right, left,
                    right);
        break;
    case WEAK_SCALING:
        text_printf(&text, "Losses (weak scaling): %s - %g * %s, in percent of %s.", right,
                    expected_factor(comparison), left, right);
        break;
    }
    add_other_names(comparison, &text);
    for (int side = 0; side < SIDES; side++)
        add_only_in(comparison, side, &text);
    text_add_clean(out, text_string(&text), describe_in_ascii());
    vec_free(&text);
}

char *comparison_only_in_one(const struct comparison *comparison)
{
    struct text text = {0};
    for (int side = 0; side < SIDES; side++)
        add_only_in(comparison, side, &text);
    char *result = mem_strdup(text_string(&text));
    vec_free(&text);
    return result;
}
