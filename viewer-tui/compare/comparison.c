#include "viewer-tui/compare/comparison.h"

#include "viewer-tui/database/efficiency.h"
#include "viewer-tui/database/run.h"
#include "viewer-tui/threads/threads.h"
#include "viewer-tui/views/describe.h"

#include <stdlib.h>
#include <string.h>

/* The metric of the other side that one is compared with, or metrics->n: the one of that name, or
 * of an effort that is not there the work of its event. */
static size_t like(const struct metrics *metrics, const struct metric *metric)
{
    size_t found = metrics_find(metrics, metric->name), from = 0;
    struct efficiency event;
    if (found < metrics->n || !metric_is_sum(metric))
        return found;
    const char *of_event = metric->name + strlen(efficiency_part_name(EFFORT));
    while (efficiency_next(metrics, &from, &event))
        if (strcmp(event.event, of_event) == 0)
            return event.at[WORK];
    return metrics->n;
}

/* Keeps a text for the metrics. */
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

/* Why a column was not measured; NULL when it was. */
static const char *why_not(struct comparison *comparison, enum merged_column column,
                           const struct metric *const sides[SIDES])
{
    if (column < SIDES)
        return sides[column]->why;
    for (int side = 0; side < SIDES; side++)
        if (sides[side]->why)
            return keep(comparison, mem_printf("not measured in %s: %s",
                                               comparison->options->names[side], sides[side]->why));
    return NULL;
}

/* Adds a column of a metric that both sides have, under the name of the one that is a sum if only
 * one is. */
static void add_column(struct comparison *comparison, struct merged_metric from,
                       const struct metric *const sides[SIDES])
{
    struct metrics *metrics = &comparison->metrics;
    const struct metric *named = metric_is_sum(sides[1]) ? sides[1] : sides[0];
    char *name = column_name(comparison, from.column, named->name);
    struct metric metric = metric_new(keep(comparison, name));
    metric.is_ratio = from.column == MERGED_RATIO;
    if (!metric.is_ratio)
        metric_set_unit(&metric, named->unit);
    metric.why = why_not(comparison, from.column, sides);
    for (int side = 0; side < SIDES; side++)
        metric.sides[side] = (int)(metrics->n - from.column) + side;
    for (int set = 0; set < METRIC_SETS; set++)
        metric.is_in[set] = sides[0]->is_in[set] || sides[1]->is_in[set];
    if (metric_is_sum(named) && from.column < SIDES)
        metric.sum_name = mem_strdup(name);
    if (named->kind) {
        metric.kind = name + (named->kind - named->name);
        metric.kind_length = named->kind_length;
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
    double told = comparison->options->workers[side], measured = run_workers(of_side->run);
    if (told > 0 || measured > 0)
        return told > 0 ? told : measured;
    return (double)threads_count(of_side->db);
}

/* What a cost of the left side is expected to be multiplied with on the right side. */
static double expected_factor(const struct comparison *comparison)
{
    if (comparison->options->scaling != WEAK_SCALING)
        return 1;
    return comparison_workers(comparison, 1) / comparison_workers(comparison, 0);
}

static void add_columns(struct comparison *comparison, size_t left, size_t right)
{
    const struct metric *const sides[SIDES] = {&comparison->sides[0].db->metrics.at[left],
                                               &comparison->sides[1].db->metrics.at[right]};
    double factor = expected_factor(comparison);
    for (int column = 0; column < MERGED_COLUMNS; column++)
        add_column(comparison,
                   (struct merged_metric){(enum merged_column)column, {left, right}, factor},
                   sides);
}

/* The index of that column of a side's metric; METRIC_ABSENT where the other side lacks it. */
static int find_column(const struct comparison *comparison, enum merged_column column, int side,
                       int metric)
{
    for (size_t m = 0; metric != METRIC_ABSENT && m < comparison->metrics.n; m++)
        if (comparison->from[m].column == column &&
            comparison->from[m].sides[side] == (size_t)metric)
            return (int)m;
    return METRIC_ABSENT;
}

/* Says which columns are parts of which, as their metrics are. */
static void relate(struct comparison *comparison)
{
    struct metrics *metrics = &comparison->metrics;
    for (size_t m = 0; m < metrics->n; m++) {
        const struct merged_metric *from = &comparison->from[m];
        int side = from->column == MERGED_LEFT ? 0 : 1;
        const struct metric *of_side = &comparison->sides[side].db->metrics.at[from->sides[side]];
        metrics->at[m].kind_of = find_column(comparison, from->column, side, of_side->kind_of);
        if (from->column < SIDES)
            metrics->at[m].sum = find_column(comparison, from->column, side, of_side->sum);
    }
    int whole = comparison->options->scaling == NO_SCALING ? 0 : 1;
    for (size_t m = 0; m < metrics->n; m++)
        if (comparison->from[m].column == MERGED_DIFFERENCE) {
            struct metric *difference = &metrics->at[m];
            size_t base = (size_t)difference->sides[whole];
            difference->whole = (int)metrics_whole(metrics, base);
            difference->compares_effort = metric_is_of_effort(&metrics->at[base]);
        }
}

/* Finds what both sides have. */
static void make_metrics(struct comparison *comparison)
{
    const struct metrics *left = &comparison->sides[0].db->metrics;
    const struct metrics *right = &comparison->sides[1].db->metrics;
    for (size_t m = 0; m < left->n_stored; m++) {
        size_t found = like(right, &left->at[m]);
        if (found < right->n)
            add_columns(comparison, m, found);
    }
    for (size_t m = 0; m < right->n_stored; m++) {
        size_t found = like(left, &right->at[m]);
        bool is_added = metrics_find(left, right->at[m].name) < left->n;
        if (found < left->n && !is_added)
            add_columns(comparison, found, m);
    }
    relate(comparison);
    comparison->metrics.set = left->set;
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

/* Of scaling the loss of all effort comes first, if it was measured. */
static void sort_by_loss(const struct comparison *comparison, struct view *view)
{
    const struct metrics *metrics = view->metrics;
    if (comparison->options->scaling == NO_SCALING)
        return;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_sum(&metrics->at[m])) {
            struct sorting sorting = view->sorting;
            sorting.metric = (size_t)metrics->at[m].sides[0] + MERGED_DIFFERENCE;
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

/* Adds " Only in NAME: a, b." of the metrics that are shown of a side and that the other one lacks.
 */
static void add_only_in(const struct comparison *comparison, int side, struct text *out)
{
    const struct metrics *metrics = &comparison->sides[side].db->metrics;
    const struct metrics *other = &comparison->sides[1 - side].db->metrics;
    size_t n = 0;
    for (size_t m = 0; m < metrics->n_stored; m++) {
        const struct metric *metric = &metrics->at[m];
        if (!metric->is_in[SET_CHOSEN] || like(other, metric) < other->n)
            continue;
        if (n++ == 0)
            text_printf(out, " Only in %s: ", comparison->options->names[side]);
        else
            text_add(out, ", ");
        text_add(out, metric->name);
    }
    if (n)
        text_add(out, ".");
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
    for (int side = 0; side < SIDES; side++)
        add_only_in(comparison, side, &text);
    text_add_clean(out, text_string(&text), describe_in_ascii());
    vec_free(&text);
}
