#include "viewer-tui/output/thread-table.h"

#include "viewer-tui/table/columns.h"

#include <math.h>

static const struct metric *metric_of(const struct thread_costs *costs)
{
    return &costs->view->metrics->at[costs->metric];
}

struct number_scale thread_costs_scale(const struct thread_costs *costs)
{
    return number_scale_for(costs->distribution.max, metric_of(costs)->unit);
}

void thread_costs_add_title(const struct thread_costs *costs, bool ascii, struct text *out)
{
    columns_title(metric_of(costs), thread_costs_scale(costs).unit, (struct title_cuts){0}, ascii, out);
    text_printf(out, ", %s", costs->part == INCLUSIVE ? "inclusive" : "exclusive");
}

void thread_costs_add_value(const struct thread_costs *costs, size_t thread, struct text *out)
{
    const struct metric *metric = metric_of(costs);
    struct number_scale scale = thread_costs_scale(costs);
    columns_add_cell(metric, costs->why ? NAN : costs->values[thread], &scale,
                     metric->is_ratio ? 0 : costs->distribution.sum, VALUE_WIDTH, out);
    text_add(out, "  ");
}

void thread_costs_statistics(const struct thread_costs *costs, struct thread_statistic statistics[THREAD_STATISTICS])
{
    const struct distribution *values = &costs->distribution;
    bool is_bound = metric_is_lower_bound(metric_of(costs));
    const struct thread_statistic all[THREAD_STATISTICS] = {
        {"min", values->min, false},
        {"mean", values->mean, false},
        {"median", values->median, false},
        {"max", values->max, false},
        {"stddev", is_bound ? NAN : values->stddev, false},
        {"max/mean", is_bound ? NAN : values->imbalance, true}};
    for (int s = 0; s < THREAD_STATISTICS; s++)
        statistics[s] = all[s];
}
