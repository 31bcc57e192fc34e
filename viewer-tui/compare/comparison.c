#include "viewer-tui/compare/comparison.h"

#include "viewer-tui/base/problem.h"
#include "viewer-tui/compare/comparison-names.h"
#include "viewer-tui/database/efficiency.h"
#include "viewer-tui/threads/threads.h"
#include "viewer-tui/views/describe.h"

#include <stdlib.h>
#include <string.h>

struct comparison *comparison_new(struct session *left, struct session *right,
                                  const struct comparison_options *options)
{
    struct comparison *comparison = mem_alloc(sizeof *comparison);
    comparison->sides[0] = left;
    comparison->sides[1] = right;
    comparison->options = *options;
    return comparison;
}

static void free_metrics(struct compared_metrics *compared)
{
    for (size_t i = 0; i < compared->texts.n; i++)
        free(compared->texts.at[i]);
    vec_free(&compared->texts);
    metrics_free(&compared->metrics);
    free(compared->from);
}

void comparison_free(struct comparison *comparison)
{
    if (!comparison)
        return;
    for (int p = 0; p < PROJECTIONS; p++)
        free_metrics(&comparison->metrics[p]);
    for (int side = 0; side < SIDES; side++)
        session_close(comparison->sides[side]);
    free(comparison->title);
    free(comparison);
}

static const struct metrics *metrics_of(struct comparison *comparison, int side,
                                        enum projection projection)
{
    return &comparison->sides[side]->opened[projection].db->metrics;
}

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
static const char *keep(struct compared_metrics *compared, char *text)
{
    vec_push(&compared->texts, text);
    return text;
}

const char *comparison_column(const struct comparison *comparison, enum merged_column column)
{
    switch (column) {
    case MERGED_DIFFERENCE:
        return comparison->options.scaling == NO_SCALING ? "difference" : "loss";
    case MERGED_RATIO: return "ratio";
    default: return comparison->options.names[column];
    }
}

static char *column_name(const struct comparison *comparison, enum merged_column column,
                         const char *metric)
{
    const char *name = comparison_column(comparison, column);
    return column < SIDES ? mem_printf("%s [%s]", metric, name) : mem_printf("%s %s", metric, name);
}

/* Why a column was not measured; NULL when it was. */
static const char *why_not(const struct comparison *comparison, struct compared_metrics *compared,
                           enum merged_column column, const struct metric *const sides[SIDES])
{
    if (column < SIDES)
        return sides[column]->why;
    for (int side = 0; side < SIDES; side++)
        if (sides[side]->why)
            return keep(compared, mem_printf("not measured in %s: %s",
                                             comparison->options.names[side], sides[side]->why));
    return NULL;
}

/* Adds a column of a metric that both sides have, under the name of the one that is a sum if only
 * one is. */
static void add_column(const struct comparison *comparison, struct compared_metrics *compared,
                       struct merged_metric from, const struct metric *const sides[SIDES])
{
    struct metrics *metrics = &compared->metrics;
    const struct metric *named = metric_is_sum(sides[1]) ? sides[1] : sides[0];
    char *name = column_name(comparison, from.column, named->name);
    struct metric metric = metric_new(keep(compared, name));
    metric.is_ratio = from.column == MERGED_RATIO;
    if (!metric.is_ratio)
        metric_set_unit(&metric, named->unit);
    metric.why = why_not(comparison, compared, from.column, sides);
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
    compared->from = mem_resize(compared->from, metrics->n, sizeof *compared->from);
    compared->from[n] = from;
}

/* A database of a side that is open. */
static const struct database *database_of(const struct session *side)
{
    const struct database *db = side->opened[LOGICAL].db;
    return db ? db : side->opened[PHYSICAL].db;
}

double comparison_workers(const struct comparison *comparison, int side)
{
    const struct session *session = comparison->sides[side];
    double told = comparison->options.workers[side], measured = run_workers(session->run);
    if (told > 0 || measured > 0)
        return told > 0 ? told : measured;
    return (double)threads_count(database_of(session));
}

/* What a cost of the left side is expected to be multiplied with on the right side. */
static double expected_factor(const struct comparison *comparison)
{
    if (comparison->options.scaling != WEAK_SCALING)
        return 1;
    return comparison_workers(comparison, 1) / comparison_workers(comparison, 0);
}

static void add_columns(struct comparison *comparison, enum projection projection, size_t left,
                        size_t right)
{
    const struct metric *const sides[SIDES] = {&metrics_of(comparison, 0, projection)->at[left],
                                               &metrics_of(comparison, 1, projection)->at[right]};
    double factor = expected_factor(comparison);
    for (int column = 0; column < MERGED_COLUMNS; column++)
        add_column(comparison, &comparison->metrics[projection],
                   (struct merged_metric){(enum merged_column)column, {left, right}, factor},
                   sides);
}

/* The index of that column of a side's metric; METRIC_ABSENT where the other side lacks it. */
static int find_column(const struct compared_metrics *compared, enum merged_column column, int side,
                       int metric)
{
    for (size_t m = 0; metric != METRIC_ABSENT && m < compared->metrics.n; m++)
        if (compared->from[m].column == column && compared->from[m].sides[side] == (size_t)metric)
            return (int)m;
    return METRIC_ABSENT;
}

/* Says which columns are parts of which, as their metrics are. */
static void relate(struct comparison *comparison, enum projection projection)
{
    struct compared_metrics *compared = &comparison->metrics[projection];
    for (size_t m = 0; m < compared->metrics.n; m++) {
        const struct merged_metric *from = &compared->from[m];
        struct metric *metric = &compared->metrics.at[m];
        int side = from->column == MERGED_LEFT ? 0 : 1;
        const struct metric *of_side =
            &metrics_of(comparison, side, projection)->at[from->sides[side]];
        metric->kind_of = find_column(compared, from->column, side, of_side->kind_of);
        if (from->column < SIDES)
            metric->sum = find_column(compared, from->column, side, of_side->sum);
    }
    int whole = comparison->options.scaling == NO_SCALING ? 0 : 1;
    for (size_t m = 0; m < compared->metrics.n; m++)
        if (compared->from[m].column == MERGED_DIFFERENCE) {
            struct metric *difference = &compared->metrics.at[m];
            size_t base = (size_t)difference->sides[whole];
            difference->whole = (int)metrics_whole(&compared->metrics, base);
            difference->compares_effort = metric_is_of_effort(&compared->metrics.at[base]);
        }
}

/* Finds what both sides have. */
static void make_metrics(struct comparison *comparison, enum projection projection)
{
    const struct metrics *left = metrics_of(comparison, 0, projection);
    const struct metrics *right = metrics_of(comparison, 1, projection);
    for (size_t m = 0; m < left->n_stored; m++) {
        size_t found = like(right, &left->at[m]);
        if (found < right->n)
            add_columns(comparison, projection, m, found);
    }
    for (size_t m = 0; m < right->n_stored; m++) {
        size_t found = like(left, &right->at[m]);
        bool is_added = metrics_find(left, right->at[m].name) < left->n;
        if (found < left->n && !is_added)
            add_columns(comparison, projection, found, m);
    }
    relate(comparison, projection);
    comparison->metrics[projection].metrics.set = left->set;
}

/* False, with the problem noted, when there are none. */
static bool has_metrics(struct comparison *comparison, enum projection projection)
{
    struct compared_metrics *compared = &comparison->metrics[projection];
    if (compared->metrics.n == 0)
        make_metrics(comparison, projection);
    if (metrics_n_shown(&compared->metrics) == 0)
        problem_found(comparison->sides[1]->folder, "has no metric in common with %s",
                      comparison->sides[0]->folder);
    return metrics_n_shown(&compared->metrics) > 0;
}

/* Of scaling the loss of all effort comes first, if it was measured. */
static void sort_by_loss(const struct comparison *comparison, struct view *view)
{
    const struct metrics *metrics = view->metrics;
    if (comparison->options.scaling == NO_SCALING)
        return;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_sum(&metrics->at[m])) {
            struct sorting sorting = view->sorting;
            sorting.metric = (size_t)metrics->at[m].sides[0] + MERGED_DIFFERENCE;
            view_sort(view, sorting);
            return;
        }
}

struct view *comparison_view(struct comparison *comparison, enum projection projection,
                             enum view_id id)
{
    struct view *views[SIDES] = {NULL};
    for (int side = 0; side < SIDES; side++)
        if (!session_database(comparison->sides[side], projection))
            return NULL;
    if (!has_metrics(comparison, projection))
        return NULL;
    for (int side = 0; side < SIDES; side++) {
        views[side] = session_take_view(comparison->sides[side], projection, id);
        if (!views[side]) {
            view_close(views[0]);
            return NULL;
        }
    }
    const struct compared_metrics *compared = &comparison->metrics[projection];
    struct view *view = merged_open(views, &compared->metrics, compared->from);
    sort_by_loss(comparison, view);
    return view;
}

void comparison_show(struct comparison *comparison, enum metric_set set)
{
    for (int side = 0; side < SIDES; side++)
        session_show(comparison->sides[side], set);
    for (int p = 0; p < PROJECTIONS; p++)
        comparison->metrics[p].metrics.set = set;
}

static const char *title_of(const struct session *side)
{
    return session_title(side, database_of(side));
}

const char *comparison_title(struct comparison *comparison)
{
    const char *left = title_of(comparison->sides[0]), *right = title_of(comparison->sides[1]);
    bool is_same = strcmp(left, right) == 0;
    free(comparison->title);
    comparison->title =
        mem_printf("%s [%s] and %s%s[%s]", left, comparison->options.names[0], is_same ? "" : right,
                   is_same ? "" : " ", comparison->options.names[1]);
    return comparison->title;
}

/* Adds " Only in NAME: a, b." of the metrics that are shown of a side and that the other one lacks.
 */
static void add_only_in(const struct comparison *comparison, int side, struct text *out)
{
    const struct metrics *metrics = &database_of(comparison->sides[side])->metrics;
    const struct metrics *other = &database_of(comparison->sides[1 - side])->metrics;
    size_t n = 0;
    for (size_t m = 0; m < metrics->n_stored; m++) {
        const struct metric *metric = &metrics->at[m];
        if (!metric->is_in[SET_CHOSEN] || like(other, metric) < other->n)
            continue;
        if (n++ == 0)
            text_printf(out, " Only in %s: ", comparison->options.names[side]);
        else
            text_add(out, ", ");
        text_add(out, metric->name);
    }
    if (n)
        text_add(out, ".");
}

void comparison_explain(const struct comparison *comparison, struct text *out)
{
    const char *left = comparison->options.names[0], *right = comparison->options.names[1];
    struct text text = {0};
    switch (comparison->options.scaling) {
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
