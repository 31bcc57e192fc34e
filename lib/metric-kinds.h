/* The kinds of metrics that hpcrun records and hpcprof adds: their names and meanings.
 *
 * Files and views name a metric by its kind, "work", and by its event if there are several time
 * events: "work (REALTIME)". Metrics of other events are named by the event: "PAGE-FAULTS". */
#ifndef LIB_METRIC_KINDS_H
#define LIB_METRIC_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#define METRIC_WORK          "work"
#define METRIC_WALL          "wall"
#define METRIC_IDLENESS      "idleness"
#define METRIC_OVERHEAD      "overhead"
#define METRIC_EFFORT        "effort"
#define METRIC_WAITING       "waiting"
#define METRIC_OFF_CPU       "off CPU"
#define METRIC_READY         "ready"
#define METRIC_KERNEL        "kernel"
#define METRIC_LOCK_BLAME    "lock blame"
#define METRIC_LOCK_WAIT     "lock wait"
#define METRIC_INCOMPLETE    "incomplete"
#define METRIC_EXACT_WORK    "exact work"
#define METRIC_SPAN          "span"
#define METRIC_BURDENED_SPAN "burdened span"

struct metric_kind {
    const char *name;
    const char *meaning; /* at most 45 characters, without a period */
    bool is_internal;    /* for the advice and for JSON only: no view, column or list has it */
};

/* All kinds. */
const struct metric_kind *metric_kinds(size_t *n);

/* The kind of "lock wait" or "lock wait (REALTIME)"; NULL for a metric of another event. */
const struct metric_kind *metric_kind_of(const char *name);

#endif
