#include "viewer-tui/metrics/efficiency.h"

#include "lib/metric-kinds.h"

#include <string.h>

const char *efficiency_part_name(enum efficiency_part part)
{
    static const char *const names[EFFICIENCY_PARTS] = {
        [WORK] = METRIC_WORK, [OVERHEAD] = METRIC_OVERHEAD, [IDLENESS] = METRIC_IDLENESS, [EFFORT] = METRIC_EFFORT};
    return names[part];
}

bool efficiency_next(const struct metrics *metrics, size_t *from, struct efficiency *found)
{
    while (*from < metrics->n) {
        size_t work = (*from)++;
        const char *event = metric_event(&metrics->at[work]);
        if (!metric_is(&metrics->at[work], METRIC_WORK) || metrics_find(metrics, metrics->at[work].name) != work)
            continue;
        found->event = event;
        for (int part = WORK; part < EFFICIENCY_PARTS; part++) {
            size_t of_event = metrics_find_event(metrics, efficiency_part_name((enum efficiency_part)part), event);
            size_t of_none = metrics_find(metrics, efficiency_part_name((enum efficiency_part)part));
            /* A part that no event measured has one entry, without an event in its name. */
            bool is_unmeasured = of_none < metrics->n && !metric_is_measured(&metrics->at[of_none]);
            found->at[part] = of_event == metrics->n && is_unmeasured ? of_none : of_event;
        }
        return true;
    }
    return false;
}

static bool is_measured(const struct metrics *metrics, size_t metric)
{
    return metric < metrics->n && metric_is_measured(&metrics->at[metric]);
}

void efficiency_add_efforts(struct metrics *metrics)
{
    size_t from = 0, n = metrics->n;
    struct efficiency event;
    while (from < n && efficiency_next(metrics, &from, &event)) {
        bool is_worth_it =
            is_measured(metrics, event.at[OVERHEAD]) || is_measured(metrics, event.at[IDLENESS]);
        if (!is_measured(metrics, event.at[WORK]) || !is_worth_it || event.at[EFFORT] < metrics->n)
            continue;
        char *name = mem_printf("%s%s", efficiency_part_name(EFFORT), event.event);
        size_t effort = metrics_add_sum(metrics, name, metrics->at[event.at[WORK]].unit);
        for (int part = WORK; part < EFFORT; part++)
            if (event.at[part] < n && metric_is_measured(&metrics->at[event.at[part]]))
                metrics->at[event.at[part]].sum = (int)effort;
    }
}

/* The metric whose name is the first `length` bytes of a name and `event`; metrics->n if there is none. */
static size_t find_whole(const struct metrics *metrics, const char *name, size_t length, const char *event)
{
    size_t i = 0;
    while (i < metrics->n &&
           (strncmp(metrics->at[i].name, name, length) != 0 || strcmp(metrics->at[i].name + length, event) != 0))
        i++;
    return i;
}

void efficiency_find_kinds(struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n; m++) {
        struct metric *metric = &metrics->at[m];
        const char *colon = strstr(metric->name, METRIC_OVERHEAD ":");
        if (!colon)
            continue;
        colon += strlen(METRIC_OVERHEAD);
        const char *event = metric_event(metric), *end = metric->name + strlen(metric->name);
        size_t length = (size_t)(colon - metric->name), overhead = find_whole(metrics, metric->name, length, event);
        if (overhead == metrics->n && (event = end)) /* what stands in parentheses belongs to the kind */
            overhead = find_whole(metrics, metric->name, length, event);
        if (overhead == metrics->n)
            continue;
        metric->kind = (struct overhead_kind){colon + 1, (int)(event - colon) - 1, (int)overhead};
        metric->sum = metrics->at[overhead].sum;
    }
}

void efficiency_add_formula(const struct metrics *metrics, size_t effort, struct text *out)
{
    bool is_added[EFFORT] = {false};
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int part = WORK; part < EFFORT; part++) {
            const struct metric *metric = &metrics->at[m];
            is_added[part] |= metric->sum == (int)effort && metric_is_added(metric) &&
                              metric_is(metric, efficiency_part_name((enum efficiency_part)part));
        }
    const char *plus = "";
    for (int part = WORK; part < EFFORT; part++)
        if (is_added[part]) {
            text_printf(out, "%s%s", plus, efficiency_part_name((enum efficiency_part)part));
            plus = " + ";
        }
}
