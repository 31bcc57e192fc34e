#include "viewer-tui/compare/comparison.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Takes ownership of a text to which the metrics point. */
static const char *keep(struct comparison *comparison, char *text)
{
    vec_push(&comparison->texts, text);
    return text;
}

const char *comparison_column(const struct comparison *comparison, enum merged_column column)
{
    switch (column) {
    case MERGED_DIFFERENCE:
        return comparison->options->scaling == NO_SCALING ? "difference" : "loss";
    case MERGED_RATIO: return "ratio";
    default: return comparison->options->names[column];
    }
}

static char *column_name(const struct comparison *comparison, enum merged_column column,
                         const char *metric)
{
    const char *name = comparison_column(comparison, column);
    return column < SIDES ? mem_printf("%s [%s]", metric, name) : mem_printf("%s %s", metric, name);
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
        metric_set_state(metric, METRIC_NOT_MEASURED, keep(comparison, why));
        return;
    }
}

/* The metric whose name the columns have: an effort if only one is, else the one that names its
 * event. */
static const struct metric *named_of(const struct metric *const sides[SIDES])
{
    if (metric_is_sum(sides[0]) != metric_is_sum(sides[1]))
        return metric_is_sum(sides[0]) ? sides[0] : sides[1];
    return strlen(sides[0]->name) >= strlen(sides[1]->name) ? sides[0] : sides[1];
}

/* Adds a column of a metric that both sides have. */
static void add_column(struct comparison *comparison, struct merged_metric from,
                       const struct metric *const sides[SIDES])
{
    struct metrics *metrics = &comparison->metrics;
    const struct metric *named = named_of(sides);
    char *name = column_name(comparison, from.column, named->name);
    struct metric metric = metric_new(keep(comparison, name));
    metric.source = METRIC_COMPARED;
    metric.compared = (struct metric_comparison){
        .whole = METRIC_ABSENT, .is_sum = metric_is_sum(named) && from.column < SIDES};
    metric.is_ratio = from.column == MERGED_RATIO;
    if (!metric.is_ratio)
        metric_set_unit(&metric, named->unit);
    set_state(comparison, from.column, sides, &metric);
    if (from.column < SIDES && strcmp(sides[from.column]->name, named->name) != 0)
        metric.compared.called = sides[from.column]->name;
    for (int side = 0; side < SIDES; side++)
        metric.compared.sides[side] = metrics->n - from.column + (size_t)side;
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
    size_t n = metrics->n++;
    metrics->n_stored = metrics->n;
    metrics->at = mem_resize(metrics->at, metrics->n, sizeof *metrics->at);
    metrics->at[n] = metric;
    comparison->from = mem_resize(comparison->from, metrics->n, sizeof *comparison->from);
    comparison->from[n] = from;
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

static void add_columns(struct comparison *comparison, const struct metric_pair *pair)
{
    const struct metric *sides[SIDES];
    for (int side = 0; side < SIDES; side++)
        sides[side] = &comparison->sides[side].db->metrics.at[pair->sides[side]];
    double factor = expected_factor(comparison);
    for (int column = 0; column < MERGED_COLUMNS; column++)
        add_column(comparison,
                   (struct merged_metric){.column = (enum merged_column)column,
                                          .sides = {pair->sides[0], pair->sides[1]},
                                          .factor = factor},
                   sides);
}

/* The index of a side's metric in that column; METRIC_ABSENT if the other side lacks the metric. */
static int find_column(const struct comparison *comparison, enum merged_column column, int side,
                       int metric)
{
    for (size_t m = 0; metric != METRIC_ABSENT && m < comparison->metrics.n; m++)
        if (comparison->from[m].column == column &&
            comparison->from[m].sides[side] == (size_t)metric)
            return (int)m;
    return METRIC_ABSENT;
}

/* Copies the relations between metrics (part of, kind of) to their columns. */
static void relate(struct comparison *comparison)
{
    struct metrics *metrics = &comparison->metrics;
    for (size_t m = 0; m < metrics->n; m++) {
        const struct merged_metric *from = &comparison->from[m];
        int side = from->column == MERGED_LEFT ? 0 : 1;
        const struct metric *of_side = &comparison->sides[side].db->metrics.at[from->sides[side]];
        metrics->at[m].kind.overhead =
            find_column(comparison, from->column, side, of_side->kind.overhead);
        if (from->column < SIDES)
            metrics->at[m].sum = find_column(comparison, from->column, side, of_side->sum);
    }
    int whole = comparison->options->scaling == NO_SCALING ? 0 : 1;
    for (size_t m = 0; m < metrics->n; m++)
        if (comparison->from[m].column == MERGED_DIFFERENCE) {
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
    for (size_t i = 0; i < pairs.n; i++)
        add_columns(comparison, &pairs.at[i]);
    vec_free(&pairs);
    relate(comparison);
    comparison->metrics.set = comparison->sides[0].db->metrics.set;
}

struct comparison *comparison_new(const struct compared_run sides[SIDES],
                                  const struct comparison_options *options)
{
    struct comparison *comparison = mem_alloc(sizeof *comparison);
    memcpy(comparison->sides, sides, sizeof comparison->sides);
    comparison->options = options;
    make_metrics(comparison);
    return comparison;
}

void comparison_free(struct comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->texts.n; i++)
        free(comparison->texts.at[i]);
    vec_free(&comparison->texts);
    metrics_free(&comparison->metrics);
    free(comparison->from);
    free(comparison);
}

/* With scaling, sorts by the loss of effort, if that was measured. */
static void sort_by_loss(const struct comparison *comparison, struct view *view)
{
    const struct metrics *metrics = view->metrics;
    if (comparison->options->scaling == NO_SCALING)
        return;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_sum(&metrics->at[m])) {
            struct sorting sorting = view->sorting;
            sorting.metric = metrics->at[m].compared.sides[0] + MERGED_DIFFERENCE;
            view_sort(view, sorting);
            return;
        }
}

struct view *comparison_view(const struct comparison *comparison, struct view *const sides[SIDES])
{
    struct view *view = merged_open(sides, &comparison->metrics, comparison->from);
    sort_by_loss(comparison, view);
    return view;
}

char *comparison_metric_name(const struct comparison *comparison, size_t metric)
{
    assert(comparison->from[metric].column == MERGED_LEFT);
    const char *name = comparison->metrics.at[metric].name;
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
    for (size_t m = 0; m < comparison->metrics.n_stored; m += MERGED_COLUMNS) {
        const struct merged_metric *from = &comparison->from[m];
        const struct metric *column = &comparison->metrics.at[m];
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
