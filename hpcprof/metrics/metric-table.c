#include "hpcprof/metrics/metric-table.h"

#include "lib/sanitized-text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct event *metric_event(const struct metric_table *table, const struct metric *metric)
{
    return &table->measurements->events.at[metric->event];
}

/* ---- names ---- */

static size_t count_time_events(const struct measurements *measurements)
{
    size_t n = 0;
    for (size_t i = 0; i < measurements->events.n; i++)
        n += event_is_sampled_time(&measurements->events.at[i]);
    return n;
}

static char *display_name(const char *recorded_name, const struct event *event, size_t time_events)
{
    if (event->flags & EVENT_EXACT)
        return mem_strdup(recorded_name);
    if (event_is_time(event))
        return time_events == 1 ? mem_strdup(recorded_name)
                                : mem_printf("%s (%s)", recorded_name, event->name);
    if (strcmp(recorded_name, METRIC_WORK) == 0 || strcmp(recorded_name, event->name) == 0)
        return mem_strdup(event->name);
    return mem_printf("%s %s", event->name, recorded_name);
}

static void name_metrics(struct metric_table *table)
{
    size_t time_events = count_time_events(table->measurements);
    for (size_t i = 0; i < table->all.n; i++) {
        struct metric *metric = &table->all.at[i];
        autofree char *name = display_name(metric->recorded_name, metric_event(table, metric), time_events);
        metric->name = utf8_repaired(name);
    }
}

/* ---- metrics ---- */

/* Returns the index of the event's metric with this recorded name; adds it if it is new. */
static uint32_t add_metric(struct metric_table *table, const char *recorded_name, uint32_t event)
{
    autofree char *key = mem_printf("%u\n%s", event, recorded_name);
    uint32_t id = strtab_id(&table->keys, key);
    if (id == table->all.n)
        vec_push(&table->all, (struct metric){.recorded_name = mem_strdup(recorded_name),
                                              .event = event,
                                              .overhead = NO_METRIC,
                                              .waiting = NO_METRIC,
                                              .kernel = NO_METRIC,
                                              .kind_of = NO_METRIC});
    return id;
}

/* Whether a metric is what its event measures, not a part or consequence of it. */
static bool is_measured_by_event(const struct metric_table *table, const struct metric *metric)
{
    return strcmp(metric->recorded_name, METRIC_WORK) == 0 ||
           strcmp(metric->recorded_name, metric_event(table, metric)->name) == 0;
}

/* Adds the metrics of an event for each kind of overhead: "overhead:spawn". */
static uint32_t *add_kinds(struct metric_table *table, const struct strtab *kinds, uint32_t event,
                           uint32_t overhead)
{
    uint32_t *metrics = mem_alloc(kinds->count * sizeof *metrics);
    for (uint32_t kind = 0; kind < kinds->count; kind++) {
        autofree char *name = mem_printf("%s:%s", METRIC_OVERHEAD, strtab_string(kinds, kind));
        metrics[kind] = add_metric(table, name, event);
        table->all.at[metrics[kind]].kind_of = overhead;
    }
    return metrics;
}

static void add_overhead(struct metric_table *table, const struct strtab *kinds, uint32_t metric)
{
    uint32_t event = table->all.at[metric].event;
    uint32_t overhead = add_metric(table, METRIC_OVERHEAD, event);
    uint32_t *of_kinds = kinds->count ? add_kinds(table, kinds, event, overhead) : NULL;
    table->all.at[metric].overhead = overhead;
    table->all.at[metric].kinds = of_kinds;
}

static void add_waiting(struct metric_table *table, uint32_t metric)
{
    uint32_t waiting = add_metric(table, METRIC_WAITING, table->all.at[metric].event);
    table->all.at[metric].waiting = waiting;
}

/* Whether samples of an event tell where in the kernel they were: those of CPU time do, if the run's do. */
static bool has_kernel(const struct metric_table *table, const struct event *event)
{
    const struct load_modules *modules = &table->measurements->modules;
    for (size_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].is_kernel)
            return event_is_sampled_time(event) && !(event->flags & EVENT_WALL_CLOCK);
    return false;
}

/* Of all metrics that are time of the thread itself. */
static void add_kernel(struct metric_table *table, uint32_t metric)
{
    bool is_time = is_measured_by_event(table, &table->all.at[metric]) ||
                   strcmp(table->all.at[metric].recorded_name, METRIC_WAITING) == 0;
    if (!is_time || !has_kernel(table, metric_event(table, &table->all.at[metric])))
        return;
    uint32_t kernel = add_metric(table, METRIC_KERNEL, table->all.at[metric].event);
    table->all.at[metric].kernel = kernel;
}

void metric_table_build(struct metric_table *table, const struct measurements *measurements,
                        const struct overhead *overhead, const struct waiting *waiting,
                        statistic_set statistics)
{
    *table = (struct metric_table){.measurements = measurements,
                                   .statistics = statistics,
                                   .why_lower_bound = overhead->why_lower_bound};
    uint32_t n = (uint32_t)measurements->metrics.n;
    for (uint32_t i = 0; i < n; i++)
        add_metric(table, measurements->metrics.at[i].name, measurements->metrics.at[i].event);
    assert(table->all.n == n); /* recorded metrics are distinct and keep their indices */
    for (uint32_t i = 0; i < n && overhead->is_measurable; i++)
        if (is_measured_by_event(table, &table->all.at[i]))
            add_overhead(table, &overhead->kinds, i);
    for (uint32_t i = 0; i < n && waiting->is_measurable; i++)
        if (is_measured_by_event(table, &table->all.at[i]))
            add_waiting(table, i);
    for (uint32_t i = 0; i < n; i++)
        add_kernel(table, i);
    name_metrics(table);
}

void metric_table_free(struct metric_table *table)
{
    for (size_t i = 0; i < table->all.n; i++) {
        free(table->all.at[i].recorded_name);
        free(table->all.at[i].name);
        free(table->all.at[i].kinds);
    }
    vec_free(&table->all);
    strtab_free(&table->keys);
}

bool metric_table_has(const struct metric_table *table, const char *recorded_name)
{
    for (size_t i = 0; i < table->all.n; i++)
        if (strcmp(table->all.at[i].recorded_name, recorded_name) == 0)
            return true;
    return false;
}

double metric_error(const struct metric_table *table, const struct metric *metric)
{
    const struct measurements *measurements = table->measurements;
    size_t index = (size_t)(metric - table->all.at);
    if (index >= measurements->metrics.n)
        return 0;
    const struct recorded_metric *recorded = &measurements->metrics.at[index];
    return event_amount(&measurements->events.at[recorded->event], recorded->error);
}

const char *metric_lower_bound(const struct metric_table *table, const struct metric *metric)
{
    bool is_overhead =
        strcmp(metric->recorded_name, METRIC_OVERHEAD) == 0 || metric->kind_of != NO_METRIC;
    size_t index = (size_t)(metric - table->all.at);
    if (index < table->measurements->metrics.n)
        return table->measurements->metrics.at[index].why_lower_bound;
    return is_overhead ? table->why_lower_bound : NULL;
}

bool metric_is_of_chain(const struct metric *metric)
{
    return strcmp(metric->recorded_name, METRIC_SPAN) == 0 ||
           strcmp(metric->recorded_name, METRIC_BURDENED_SPAN) == 0;
}
