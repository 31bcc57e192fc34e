#include "viewer-tui/metrics/efficiency.h"

#include "lib/metric-kinds.h"

#include <stdlib.h>
#include <string.h>

const char *efficiency_part_name(enum efficiency_part part)
{
    static const char *const names[EFFICIENCY_PARTS] = {
        [WORK] = METRIC_WORK, [OVERHEAD] = METRIC_OVERHEAD, [IDLENESS] = METRIC_IDLENESS, [EFFORT] = METRIC_EFFORT};
    return names[part];
}

/* A part that no event measured has one entry, without an event in its name. */
static size_t find_part(const struct metrics *metrics, enum efficiency_part part, const char *event)
{
    size_t found = metrics_find_event(metrics, efficiency_part_name(part), event);
    if (found < metrics->n)
        return found;
    found = metrics_find(metrics, efficiency_part_name(part));
    return found < metrics->n && !metric_is_measured(&metrics->at[found]) ? found : metrics->n;
}

bool efficiency_next(const struct metrics *metrics, size_t *from, struct efficiency *found)
{
    while (*from < metrics->n) {
        size_t work = (*from)++;
        const char *event = metric_event(metrics->at[work].name, METRIC_WORK, strlen(METRIC_WORK));
        if (!event || metrics_find(metrics, metrics->at[work].name) != work)
            continue;
        found->event = event;
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            found->at[part] = find_part(metrics, (enum efficiency_part)part, event);
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

/* The kind in the name of a possible kind of overhead; NULL in other names. */
static const char *kind_in(const char *name)
{
    const char *overhead = efficiency_part_name(OVERHEAD);
    const char *at = strstr(name, overhead);
    return at && at[strlen(overhead)] == ':' ? at + strlen(overhead) + 1 : NULL;
}

/* The metric whose name is that of a kind without ":KIND"; `rest` is the length after the kind. */
static size_t without_kind(const struct metrics *metrics, const char *name, const char *kind,
                           size_t rest)
{
    char *whole = mem_printf("%.*s%s", (int)(kind - 1 - name), name, kind + strlen(kind) - rest);
    size_t found = metrics_find(metrics, whole);
    free(whole);
    return found;
}

void efficiency_find_kinds(struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n; m++) {
        struct metric *metric = &metrics->at[m];
        const char *kind = kind_in(metric->name);
        const char *event = kind ? strrchr(kind, '(') : NULL;
        size_t rest = event && event > kind && event[-1] == ' ' ? strlen(event) + 1 : 0;
        size_t overhead = kind ? without_kind(metrics, metric->name, kind, rest) : metrics->n;
        if (kind && overhead == metrics->n) {
            rest = 0;
            overhead = without_kind(metrics, metric->name, kind, rest);
        }
        if (overhead == metrics->n)
            continue;
        metric->kind = (struct overhead_kind){kind, (int)(strlen(kind) - rest), (int)overhead};
        metric->sum = metrics->at[overhead].sum;
    }
}

void efficiency_add_formula(const struct metrics *metrics, size_t effort, struct text *out)
{
    bool is_added[EFFORT] = {false};
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        for (int part = WORK; part < EFFORT; part++) {
            const char *name = efficiency_part_name((enum efficiency_part)part);
            if (metrics->at[m].sum == (int)effort && metric_is_added(&metrics->at[m]) &&
                strncmp(metrics->at[m].name, name, strlen(name)) == 0)
                is_added[part] = true;
        }
    const char *plus = "";
    for (int part = WORK; part < EFFORT; part++)
        if (is_added[part]) {
            text_printf(out, "%s%s", plus, efficiency_part_name((enum efficiency_part)part));
            plus = " + ";
        }
}
