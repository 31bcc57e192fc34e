#include "viewer-tui/table/columns.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_column(struct columns *columns, size_t metric, enum cost_part part)
{
    vec_push(columns, (struct column){metric, part});
}

/* Adds the parts of a metric that are shown. */
static void add_both(struct columns *columns, const struct metrics *metrics, size_t metric)
{
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
        if (!metrics->at[metric].is_part_hidden[part])
            add_column(columns, metric, (enum cost_part)part);
}

static bool belong_together(const struct metrics *metrics, size_t a, size_t b)
{
    const struct metric *x = &metrics->at[a], *y = &metrics->at[b];
    if (metric_is_compared(x))
        return metric_is_compared(y) && x->compared.sides[0] == y->compared.sides[0];
    return a == b ||
           (metric_is_of_effort(x) && metrics_whole(metrics, a) == metrics_whole(metrics, b));
}

/* Whether the first of two metrics that belong together is shown if there is room for one: of an effort the larger
 * part, and its sum last; in a comparison the one that stands first. */
static bool is_preferred(const struct view *view, size_t a, size_t b)
{
    const struct metrics *metrics = view->metrics;
    bool is_sum = metrics_whole(metrics, a) == a, is_other_sum = metrics_whole(metrics, b) == b;
    double total = view_total(view, a), other_total = view_total(view, b);
    bool differ = is_sum != is_other_sum || total > other_total || total < other_total;
    if (metric_is_compared(&metrics->at[a]) || !differ)
        return a < b;
    return is_sum != is_other_sum ? is_other_sum : total > other_total;
}

/* The number of metrics that belong to the one that is sorted by and are preferred to a metric. */
static size_t n_preferred(const struct view *view, size_t metric)
{
    const struct metrics *metrics = view->metrics;
    size_t sorted = view->sorting.metric, n = 0;
    metrics_each (m, metrics, metrics_with_columns)
        n += m != sorted && m != metric && belong_together(metrics, m, sorted) && is_preferred(view, m, metric);
    return n;
}

/* Adds the columns of the metric that is sorted by, then those of the metrics that belong to it. */
static void add_sorted(struct columns *columns, const struct view *view, size_t most)
{
    const struct metrics *metrics = view->metrics;
    const struct sorting *sorting = &view->sorting;
    size_t together = 0;
    metrics_each (m, metrics, metrics_with_columns)
        together += belong_together(metrics, m, sorting->metric);
    bool is_in_one_part = together > 1 && 2 * together > most;
    for (size_t i = 0; i <= metrics->n; i++) {
        bool is_first = i == 0;
        size_t m = is_first ? sorting->metric : i - 1;
        bool is_other = m != sorting->metric && metrics_with_columns(metrics, m) == m &&
                        belong_together(metrics, m, sorting->metric);
        if (!is_first && !is_other)
            continue;
        if (!is_in_one_part)
            add_both(columns, metrics, m);
        else if (is_first || n_preferred(view, m) + 1 < most)
            add_column(columns, m, sorting->part);
    }
}

/* Smaller shares of the work are no reason for columns of their own. */
#define NOTABLE_LOCK_SHARE 0.02

/* Whether waiting for locks takes so much that readers should see it at once. */
static bool is_notable_lock(const struct view *view, size_t metric)
{
    const struct metric *of = &view->metrics->at[metric];
    size_t work = metrics_find_measured(view->metrics, METRIC_WORK);
    return (metric_is(of, METRIC_LOCK_BLAME) || metric_is(of, METRIC_LOCK_WAIT)) && metric_is_measured(of) &&
           !metric_is_compared(of) && work < view->metrics->n &&
           view_total(view, metric) > NOTABLE_LOCK_SHARE * view_total(view, work);
}

static bool has_metric(const struct columns *columns, size_t metric)
{
    size_t i = 0;
    while (i < columns->n && columns->at[i].metric != metric)
        i++;
    return i < columns->n;
}

struct columns columns_fitting(const struct view *view, size_t most)
{
    const struct metrics *metrics = view->metrics;
    struct columns columns = {0};
    size_t n_locks = 0; /* notable metrics of locks: a column for each, in the part that is sorted by */
    metrics_each (m, metrics, metrics_with_columns)
        n_locks += n_locks + 1 < most && m != view->sorting.metric && is_notable_lock(view, m);
    add_sorted(&columns, view, most - n_locks);
    metrics_each (m, metrics, metrics_with_columns)
        if (n_locks && m != view->sorting.metric && is_notable_lock(view, m)) {
            add_column(&columns, m, view->sorting.part);
            n_locks--;
        }
    metrics_each (m, metrics, metrics_with_columns)
        if (columns.n + 2 <= most && !belong_together(metrics, m, view->sorting.metric) && !has_metric(&columns, m))
            add_both(&columns, metrics, m);
    return columns;
}

void columns_add_derived(struct columns *columns, const struct view *view)
{
    const struct metrics *metrics = view->metrics;
    metrics_each (m, metrics, metrics_shown)
        if (m >= metrics->n_stored && !has_metric(columns, m) && !metric_is_set_aside(&metrics->at[m]))
            add_column(columns, m, view->sorting.part);
}

struct columns columns_all(const struct view *view)
{
    struct columns columns = {0};
    metrics_each (m, view->metrics, metrics_shown)
        add_both(&columns, view->metrics, m);
    return columns;
}

void columns_add_internal(struct columns *columns, const struct view *view)
{
    for (size_t m = 0; m < view->metrics->n; m++)
        if (view->metrics->at[m].is_internal)
            add_both(columns, view->metrics, m);
}

size_t columns_of_metric(const struct columns *columns, size_t first)
{
    size_t end = first;
    while (end < columns->n && columns->at[end].metric == columns->at[first].metric)
        end++;
    return end - first;
}

static bool is_time(const struct metric *metric)
{
    return strcmp(metric->unit, "s") == 0 && (metric_is_additive(metric) || metric_is_compared(metric));
}

static bool share_unit(const struct metric *a, const struct metric *b)
{
    return (is_time(a) && is_time(b)) ||
           (metric_is_compared(a) && metric_is_compared(b) && a->compared.sides[0] == b->compared.sides[0] &&
            metric_is_additive(a) && metric_is_additive(b));
}

struct number_scale columns_scale_beside(const struct metrics *metrics, size_t metric,
                                         double (*magnitude)(const void *context, size_t metric),
                                         const void *context)
{
    double own = fabs(magnitude(context, metric)), largest = isfinite(own) ? own : 0;
    metrics_each (m, metrics, metrics_with_columns) {
        bool counts = m < metrics->n_stored && share_unit(&metrics->at[m], &metrics->at[metric]);
        double other = counts ? fabs(magnitude(context, m)) : 0;
        if (isfinite(other) && other > largest)
            largest = other;
    }
    return number_scale_beside(largest > 0 ? largest : 1, isfinite(own) ? own : 0,
                               metrics->at[metric].unit);
}

static double magnitude_in_view(const void *view, size_t metric)
{
    return view_magnitude(view, metric);
}

struct number_scale columns_scale(const struct view *view, size_t metric)
{
    return columns_scale_beside(view->metrics, metric, magnitude_in_view, view);
}

const char *columns_sign(const struct metric *metric)
{
    if (!metric_bounds_contexts(metric))
        return "";
    return describe_in_ascii() ? ">= " : "≥ ";
}

const char *columns_state_words(const struct metric *metric)
{
    return metric_is_lower_bound(metric) ? "lower bound" : "not measured";
}

static bool has_value(const struct metric *metric, double value)
{
    bool says_nothing = metric_bounds_contexts(metric) && value == 0;
    return metric_is_measured(metric) && isfinite(value) && !says_nothing;
}

/* The number with the sign of a lower bound. A number that was rounded to 0 becomes "> 0". */
static struct number_text with_sign(const struct metric *metric, struct number_text number)
{
    struct number_text signed_number;
    if (!metric_bounds_contexts(metric))
        return number;
    bool rounds_to_0 = *number.text == '<' || strtod(number.text, NULL) == 0;
    snprintf(signed_number.text, sizeof signed_number.text, "%s%.*s", rounds_to_0 ? "> " : columns_sign(metric),
             (int)sizeof signed_number.text - 5, rounds_to_0 ? "0" : number.text);
    return signed_number;
}

struct number_text columns_value(const struct metric *metric, double value, const struct number_scale *scale)
{
    return has_value(metric, value) ? with_sign(metric, number_format(value, scale)) : (struct number_text){"-"};
}

struct number_text columns_with_unit(const struct view *view, size_t metric, double value)
{
    struct number_scale scale = columns_scale(view, metric);
    struct metric of = view->metrics->at[metric];
    of.bounds_total &= value != view_total(view, metric);
    struct number_text number = columns_value(&of, value, &scale);
    size_t length = strlen(number.text);
    if (scale.unit[0] && has_value(&of, value))
        snprintf(number.text + length, sizeof number.text - length, " %s", scale.unit);
    return number;
}

struct number_text columns_alone(const struct metric *metric, double value)
{
    return has_value(metric, value) ? with_sign(metric, number_with_unit(value, metric->unit))
                                    : (struct number_text){"-"};
}

void columns_add_cell(const struct metric *metric, double value, const struct number_scale *scale, double whole,
                      size_t width, struct text *out)
{
    struct number_text percent = {""};
    if (metric_is_measured(metric) && isfinite(value) && value != 0 && isfinite(whole))
        percent = number_percent(value, whole);
    text_add_right(out, columns_value(metric, value, scale).text, width);
    text_printf(out, "%*s%s", PERCENT_WIDTH - 1, percent.text, *percent.text ? "%" : " ");
}

struct number_text columns_percent(const struct metric *metric, double value, double whole)
{
    struct number_text percent = {""};
    if (has_value(metric, value) && metric_is_additive(metric))
        percent = number_percent(value, whole);
    return *percent.text ? with_sign(metric, percent) : percent;
}

void columns_title(const struct metric *metric, const char *unit, struct title_cuts cuts, bool ascii, struct text *out)
{
    const char *name = metric->name, *kind = metric->kind.name ? metric->kind.name : name;
    const char *event = name + metric->of.quantity, *column = event + metric->of.event;
    bool is_cut = cuts.difference && metric_is_compared(metric) && metric->compared.column == MERGED_DIFFERENCE;
    autofree struct text plain = {0};
    if (kind > name && !cuts.overhead)
        text_printf(&plain, "%.*s ", (int)(kind - name), name);
    text_printf(&plain, "%.*s%.*s%s", (int)(event - kind), kind, cuts.event ? 0 : metric->of.event, event,
                is_cut ? " diff" : column);
    if (metric_is_lower_bound(metric))
        text_add(out, ascii ? ">= " : "≥ ");
    text_add_clean(out, text_string(&plain), ascii);
    if (*unit && metric_is_measured(metric) && !is_cut)
        text_printf(out, ", %s", unit);
}
