#include "hpcprof/database/run-json-parts.h"
#include "hpcprof/database/run-json-values.h"

#include <stdlib.h>
#include <string.h>

struct metric_facts {
    const char *name, *state;
    const struct event *event; /* NULL: not measured */
    const char *why;           /* NULL: measured exactly */
    bool bounds_total;         /* only the whole program's value is a lower bound */
    double error;              /* 0: none */
};

static void write_metric(struct json_writer *json, const struct metric_facts *metric)
{
    json_write_object(json);
#define FIELDS_OF_METRIC
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

/* Writes a metric that was measured, exactly or as a lower bound. */
static void write_measured(struct json_writer *json, const struct metric_table *metrics,
                           const struct metric *metric)
{
    const char *why = metric_lower_bound(metrics, metric);
    write_metric(json, &(struct metric_facts){
                           .name = metric->name,
                           .state = why ? "lower bound" : "measured",
                           .event = metric_event(metrics, metric),
                           .why = why,
                           .bounds_total = why && metric_is_of_chain(metric),
                           .error = metric_error(metrics, metric),
                       });
}

static void write_not_measurable(struct json_writer *json, const char *name, const char *why)
{
    write_metric(json,
                 &(struct metric_facts){.name = name, .state = "not measurable", .why = why});
}

static bool have_threads(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++)
        if (measurement_has_threads(measurements->files.at[i].m))
            return true;
    return false;
}

/* Why a metric of runtimes was not measured. */
static const char *why_not_measured(const struct measurements *measurements, const char *name)
{
    uint64_t most_workers = measurements_most_workers(measurements);
    if (strcmp(name, METRIC_WAITING) == 0)
        return "no module belongs to a runtime whose waiting code is known, and the agent for "
               "plain threads took no part";
    if (strcmp(name, METRIC_OVERHEAD) == 0 && have_threads(measurements))
        return "plain threads have no runtime, so all their code counts as work";
    if (strcmp(name, METRIC_OVERHEAD) == 0)
        return "no code is tagged as a runtime's, and no runtime with an agent took part";
    if (most_workers == 0)
        return "no runtime with an agent took part";
    if (strcmp(name, METRIC_INCOMPLETE) == 0 && most_workers == 1)
        return "only one worker could run at a time, and it always has work; measure with two or "
               "more workers, and on one CPU with hpcrun --cores N";
    return "the version of hpcrun that took the measurements does not record it";
}

/* The first refusal of an agent, in the order of the files; NULL for none. */
static const struct measurement_refusal *first_refusal(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->refusals.n; k++)
            if (measurement_refusal(m, m->refusals.at[k].agent))
                return &m->refusals.at[k];
    }
    return NULL;
}

static void write_not_measured(struct json_writer *json, const struct measurements *measurements,
                               const char *name)
{
    const char *why = why_not_measured(measurements, name);
    const struct measurement_refusal *refusal =
        measurements_most_workers(measurements) == 0 ? first_refusal(measurements) : NULL;
    char *text = refusal ? mem_printf("%s (%s refused: %s)", why, refusal->agent, refusal->why)
                         : mem_strdup(why);
    write_not_measurable(json, name, text);
    free(text);
}

static bool has_exact_event(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->events.n; i++)
        if (measurements->events.at[i].flags & EVENT_EXACT)
            return true;
    return false;
}

/* The first reason that a process has recorded. */
static const char *why_missing(const struct measurements *measurements, const char *name)
{
    for (size_t i = 0; i < measurements->missing.n; i++)
        if (strcmp(measurements->missing.at[i].name, name) == 0)
            return measurements->missing.at[i].why;
    return "no runtime that can report it ran a computation; if one did, hpcrun.log says why";
}

/* Exact metrics that the user wanted, and no process has. */
static void write_missing_exact(struct run_json *run)
{
    static const char *const exact[] = {METRIC_EXACT_WORK, METRIC_SPAN, METRIC_BURDENED_SPAN};
    if (!has_exact_event(run->analysis->measurements))
        return;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!metric_table_has(run->analysis->metrics, exact[i]))
            write_not_measurable(&run->json, exact[i],
                                 why_missing(run->analysis->measurements, exact[i]));
}

void run_json_write_metrics(struct run_json *run)
{
    static const char *const of_runtimes[] = {METRIC_IDLENESS, METRIC_INCOMPLETE, METRIC_OVERHEAD,
                                              METRIC_WAITING};
    const struct metric_table *metrics = run->analysis->metrics;
    json_write_array(&run->json);
    for (size_t i = 0; i < metrics->all.n; i++)
        write_measured(&run->json, metrics, &metrics->all.at[i]);
    for (size_t i = 0; i < sizeof of_runtimes / sizeof *of_runtimes; i++)
        if (!metric_table_has(metrics, of_runtimes[i]))
            write_not_measured(&run->json, run->analysis->measurements, of_runtimes[i]);
    if (metric_table_has(metrics, METRIC_OFF_CPU) && !metric_table_has(metrics, METRIC_READY))
        write_not_measurable(&run->json, METRIC_READY,
                             "no account of the kernel (/proc/PID/task/TID/schedstat) was recorded; off CPU "
                             "contains this time");
    write_missing_exact(run);
    json_write_array_end(&run->json);
}
