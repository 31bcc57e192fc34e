#include "viewer-tui/output/thread-lines.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/columns.h"

#include <math.h>
#include <stdio.h>

/* Below this, "%.4g" writes no exponents. */
#define MOST_EXACT 1000

static const struct metric *metric_of(const struct thread_costs *costs)
{
    return &costs->view->metrics->at[costs->metric];
}

bool thread_ordering_obey(struct thread_ordering *ordering, int key)
{
    if (key == 's')
        *ordering = (struct thread_ordering){.by = (ordering->by + 1) % THREAD_ORDERS};
    else if (key == 'r')
        ordering->is_reversed = !ordering->is_reversed;
    return key == 's' || key == 'r';
}

struct number_scale thread_lines_scale(const struct thread_costs *costs, double largest)
{
    return number_scale_for(largest, metric_of(costs)->unit);
}

size_t thread_lines_label_width(const struct thread_costs *costs)
{
    size_t widest = 0;
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t width = text_columns(costs->labels[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

void thread_lines_add_what(const struct thread_lines *lines, const struct thread_costs *costs,
                           struct text *out)
{
    columns_title(metric_of(costs), lines->scale.unit, lines->ascii, out);
    text_printf(out, ", %s", costs->part == INCLUSIVE ? "inclusive" : "exclusive");
}

void thread_lines_add_order(struct thread_ordering ordering, struct text *out)
{
    static const char *const orders[THREAD_ORDERS] = {
        [BY_VALUE] = "by value", [BY_NUMBER] = "in their order", [BY_LABEL] = "by name"};
    text_printf(out, "%s%s", orders[ordering.by], ordering.is_reversed ? ", reversed" : "");
}

void thread_lines_add_number(const struct thread_costs *costs, struct text *out)
{
    size_t n = costs->threads.list.n;
    text_printf(out, "%zu thread%s", n, n == 1 ? "" : "s");
}

/* A statistic; those of counts are often not whole numbers. */
static void add_number(const struct metric *metric, const struct number_scale *scale,
                       const char *name, double value, struct text *out)
{
    char number[NUMBER_SIZE];
    if (metric_is_lower_bound(metric)) {
        columns_value(metric, value, scale, number);
        text_printf(out, "%s %s  ", name, number);
        return;
    }
    if (scale->decimals == 0 && scale->divisor == 1 && value < MOST_EXACT)
        snprintf(number, sizeof number, "%.4g", value);
    else
        number_format(value, scale, number);
    text_printf(out, "%s %s  ", name, number);
}

void thread_lines_add_statistics(const struct thread_lines *lines, const struct thread_costs *costs,
                                 struct text *out)
{
    const struct distribution *distribution = &costs->distribution;
    if (costs->why) {
        text_add(out, "- ");
        text_add_clean(out, costs->why, lines->ascii);
        return;
    }
    const struct metric *metric = metric_of(costs);
    add_number(metric, &lines->scale, "min", distribution->min, out);
    add_number(metric, &lines->scale, "mean", distribution->mean, out);
    add_number(metric, &lines->scale, "median", distribution->median, out);
    add_number(metric, &lines->scale, "max", distribution->max, out);
    if (metric_is_lower_bound(metric)) /* how far they lie apart says nothing */
        return;
    add_number(metric, &lines->scale, "stddev", distribution->stddev, out);
    if (distribution->imbalance > 0)
        text_printf(out, "max/mean %.2f", distribution->imbalance);
}

void thread_lines_add_bar(const struct thread_lines *lines, double value, double largest,
                          struct text *out)
{
    size_t used = text_columns(text_string(out));
    if (largest > 0 && used < lines->width)
        text_add_bar(out, value / largest, lines->width - used, lines->ascii);
}

/* In columns that are filled up. What tells threads of one program apart is the end. */
static void add_label(const struct thread_lines *lines, const char *label, struct text *out)
{
    size_t columns = text_columns(label), width = lines->label_width;
    struct text shown = {0};
    if (columns > width && width > 0) {
        text_add(&shown, lines->ascii ? "<" : "…");
        label = text_skip(label, columns - width + 1);
    }
    text_add(&shown, label);
    text_cut(&shown, width);
    text_add(out, text_string(&shown));
    text_pad(out, ' ', width - text_columns(text_string(&shown)));
    vec_free(&shown);
}

void thread_lines_add(const struct thread_lines *lines, const struct thread_costs *costs,
                      size_t index, struct text *out)
{
    size_t thread = costs->order[index];
    double value = costs->values[thread];
    char number[NUMBER_SIZE] = "-", percent[NUMBER_SIZE] = "";
    bool is_there = !costs->why && !isnan(value);
    bool is_share = is_there && value != 0 && !metric_of(costs)->is_ratio;
    if (is_there)
        columns_value(metric_of(costs), value, &lines->scale, number);
    if (is_share)
        number_percent(value, costs->distribution.sum, percent);
    text_add_right(out, number, VALUE_WIDTH);
    text_printf(out, "%*s%s  ", PERCENT_WIDTH - 1, percent, is_share ? "%" : " ");
    add_label(lines, costs->labels[thread], out);
    text_add(out, " ");
    thread_lines_add_bar(lines, is_there ? value : 0, lines->largest, out);
}
