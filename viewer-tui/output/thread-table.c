#include "viewer-tui/output/thread-table.h"

#include "viewer-tui/table/columns.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Below this, "%.4g" writes no exponents. */
#define MOST_EXACT 1000

static const struct metric *metric_of(const struct thread_costs *costs)
{
    return &costs->view->metrics->at[costs->metric];
}

struct thread_table thread_table_of(const struct thread_costs *costs, double max, bool ascii)
{
    return (struct thread_table){.costs = costs,
                                 .scale = number_scale_for(max, metric_of(costs)->unit),
                                 .max = max,
                                 .ascii = ascii};
}

bool thread_ordering_obey(struct thread_ordering *ordering, int key)
{
    if (key == 's')
        *ordering = (struct thread_ordering){.by = (ordering->by + 1) % THREAD_ORDERS};
    else if (key == 'r')
        ordering->is_reversed = !ordering->is_reversed;
    return key == 's' || key == 'r';
}

void thread_ordering_add(struct thread_ordering ordering, struct text *out)
{
    static const char *const orders[THREAD_ORDERS] = {
        [BY_VALUE] = "by value", [BY_NUMBER] = "in their order", [BY_LABEL] = "by name"};
    text_printf(out, "%s%s", orders[ordering.by], ordering.is_reversed ? ", reversed" : "");
}

size_t thread_costs_label_width(const struct thread_costs *costs)
{
    size_t widest = 0;
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t width = text_columns(costs->labels[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

void thread_costs_add_number(const struct thread_costs *costs, struct text *out)
{
    size_t n = costs->threads.list.n;
    text_printf(out, "%zu thread%s", n, n == 1 ? "" : "s");
}

void thread_table_add_title(const struct thread_table *table, struct text *out)
{
    columns_title(metric_of(table->costs), table->scale.unit, (struct title_cuts){0}, table->ascii, out);
    text_printf(out, ", %s", table->costs->part == INCLUSIVE ? "inclusive" : "exclusive");
}

void thread_table_statistics(const struct thread_table *table,
                             struct thread_statistic statistics[THREAD_STATISTICS])
{
    const struct distribution *values = &table->costs->distribution;
    bool is_bound = metric_is_lower_bound(metric_of(table->costs));
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

/* The mean of counts is often not a whole number. */
static struct number_text format_statistic(const struct thread_table *table, const struct thread_statistic *of)
{
    struct number_text number = number_format(of->value, &table->scale);
    bool is_count = table->scale.decimals == 0 && table->scale.divisor == 1;
    if (of->is_factor)
        snprintf(number.text, sizeof number.text, "%.2f", of->value);
    else if (metric_is_lower_bound(metric_of(table->costs)))
        number = columns_value(metric_of(table->costs), of->value, &table->scale);
    else if (is_count && of->value < MOST_EXACT)
        snprintf(number.text, sizeof number.text, "%.4g", of->value);
    return number;
}

void thread_table_add_statistics(const struct thread_table *table, struct text *out)
{
    struct thread_statistic statistics[THREAD_STATISTICS];
    if (table->costs->why) {
        text_add(out, "- ");
        text_add_clean(out, table->costs->why, table->ascii);
        return;
    }
    thread_table_statistics(table, statistics);
    for (int s = 0; s < THREAD_STATISTICS; s++) {
        if (isnan(statistics[s].value) || (statistics[s].is_factor && statistics[s].value <= 0))
            continue;
        text_printf(out, "%s %s%s", statistics[s].name, format_statistic(table, &statistics[s]).text,
                    statistics[s].is_factor ? "" : "  ");
    }
}

void thread_table_add_bar(const struct thread_table *table, double value, double max,
                          struct text *out)
{
    size_t used = text_columns(text_string(out));
    if (max > 0 && used < table->width)
        text_add_bar(out, value / max, table->width - used, table->ascii);
}

/* Threads of one program differ in the ends of their labels, so a long one loses its beginning. */
static void add_label(const struct thread_table *table, const char *label, struct text *out)
{
    size_t columns = text_columns(label), width = table->label_width;
    autofree struct text shown = {0};
    if (columns > width && width > 0) {
        text_add(&shown, table->ascii ? "<" : "…");
        label = text_skip(label, columns - width + 1);
    }
    text_add(&shown, label);
    text_cut(&shown, width);
    text_add(out, text_string(&shown));
    text_pad(out, ' ', width - text_columns(text_string(&shown)));
}

static bool has_value(const struct thread_table *table, size_t thread)
{
    return !table->costs->why && !isnan(table->costs->values[thread]);
}

void thread_table_add_value(const struct thread_table *table, size_t thread, struct text *out)
{
    const struct metric *metric = metric_of(table->costs);
    double value = has_value(table, thread) ? table->costs->values[thread] : NAN;
    columns_add_cell(metric, value, &table->scale, metric->is_ratio ? 0 : table->costs->distribution.sum, VALUE_WIDTH,
                     out);
    text_add(out, "  ");
}

void thread_table_add_line(const struct thread_table *table, size_t index, struct text *out)
{
    assert(index < table->costs->threads.list.n);
    size_t thread = table->costs->order[index];
    thread_table_add_value(table, thread, out);
    add_label(table, table->costs->labels[thread], out);
    text_add(out, " ");
    double value = has_value(table, thread) ? table->costs->values[thread] : 0;
    thread_table_add_bar(table, value, table->max, out);
}
