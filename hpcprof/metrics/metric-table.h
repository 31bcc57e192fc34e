/* The metrics of the database: those that were recorded, then for each of them that an event
 * measures one for its overhead, one for each kind of overhead, and one for waiting; and for CPU time
 * one for the kernel's part, if samples have its frames. */
#ifndef HPCPROF_METRIC_TABLE_H
#define HPCPROF_METRIC_TABLE_H

#include "hpcprof/metrics/overhead-samples.h"
#include "hpcprof/metrics/statistics.h"
#include "hpcprof/metrics/waiting-samples.h"

struct metric {
    char *recorded_name; /* of a kind (lib/metric-kinds.h), the event's name, or "overhead:spawn" */
    char *name;          /* for people, in UTF-8: "work", "work (REALTIME)", "PAGE-FAULTS" */
    uint32_t event;      /* index in measurements.events */
    uint32_t overhead;   /* metric that overhead is paid into instead; NO_METRIC: none */
    uint32_t waiting;    /* metric that waiting is paid into instead; NO_METRIC: none */
    uint32_t kernel;     /* metric that also gets what was spent in the kernel; NO_METRIC: none */
    uint32_t *kinds;     /* by kind of overhead: metric that also gets it; NULL: no known kinds */
    uint32_t kind_of;    /* metric of all overhead that this one is a part of; NO_METRIC: none */
};

struct metric_table {
    const struct measurements *measurements;
    const char *why_lower_bound; /* of overhead; NULL: it is measured exactly */
    VEC(struct metric) all;      /* begins with measurements.metrics, in that order */
    struct strtab keys;          /* ids are indices in all */
    statistic_set statistics;    /* over threads, that the database has */
};

/* The result refers to the arguments. */
void metric_table_build(struct metric_table *table, const struct measurements *measurements,
                        const struct overhead *overhead, const struct waiting *waiting,
                        statistic_set statistics);

void metric_table_free(struct metric_table *table);

/* Whether the table has a metric with this recorded name. */
bool metric_table_has(const struct metric_table *table, const char *recorded_name);

/* The program's value of a metric of the table is right within this, in the metric's unit. Statistical
 * errors of samples are not in it. */
double metric_error(const struct metric_table *table, const struct metric *metric);

/* Why the values of a metric of the table are lower bounds; NULL: they are not. */
const char *metric_lower_bound(const struct metric_table *table, const struct metric *metric);

/* Whether only the whole program's value is one, since the values of contexts are parts of one chain
 * of strands: another chain may be longer. */
bool metric_is_of_chain(const struct metric *metric);

/* The event that a metric belongs to. */
const struct event *metric_event(const struct metric_table *table, const struct metric *metric);

#endif
