/* The measurement files of a run, read and put into the order of the database.
 *
 * Events, metrics and module instances of all files are unified here; each file keeps a table from
 * its own indices to the unified ones. */
#ifndef HPCPROF_MEASUREMENTS_H
#define HPCPROF_MEASUREMENTS_H

#include "hpcprof/modules/load-modules.h"

#include "lib/measurement.h"

#define INPUT_NONE UINT32_MAX

struct event {
    char *name, *unit;      /* "s" or "count" */
    uint64_t period, flags; /* period in ns or counts; with EVENT_BY_RATE in ns */
};

/* Recorded names of metrics that mean something to us. OVERHEAD and WAITING are never in
 * measurement files. */
#define WORK       "work"
#define IDLENESS   "idleness"
#define INCOMPLETE "incomplete"
#define OVERHEAD   "overhead"
#define WAITING    "waiting"

struct metric {
    char *recorded_name; /* WORK, IDLENESS, ... */
    char *name;          /* for people, in UTF-8: "work", "work (REALTIME)", "PAGE-FAULTS" */
    uint32_t event;
    uint32_t overhead; /* the metric that takes what is overhead, or INPUT_NONE */
    uint32_t waiting;  /* the metric that takes what is waiting, or INPUT_NONE */
    uint32_t *kinds;   /* of that, those that take what is of each kind; NULL: no kinds are told */
    uint32_t kind_of;  /* of such a one, the metric that takes all overhead, else INPUT_NONE */
};

struct rules;

struct input {
    struct measurement *m;
    uint32_t *event_of;  /* index in m->events -> index in inputs.events */
    uint32_t *metric_of; /* index in m->metrics -> index in inputs.metrics, or INPUT_NONE */
    uint32_t *module_of; /* index in m->modules -> index in inputs.modules */
    uint32_t executable; /* index in inputs.executables */
};

struct inputs {
    VEC(char *) directories; /* as given */
    VEC(struct input) files; /* by host, rank, start, pid and exec sequence */
    VEC(struct event) events;
    VEC(struct metric) metrics;
    struct strtab event_keys, metric_keys; /* ids are indices in events and metrics */
    struct strtab overhead_kinds;          /* see hpcprof/metrics/overhead-samples.h */
    char *overhead_bound; /* why overhead is only a lower bound; NULL where all of it is known */
    struct modules modules;
    struct rules *rules;          /* of the runtimes: see hpcprof/runtime/runtime-code.h */
    VEC(char *) executables;      /* names that tell them apart: "make", "/opt/bin/ld" */
    size_t n_sampled_executables; /* those of them that have samples */
    VEC(char *) problems;         /* "FILE: CAUSE", in the order of files */
};

/* Reads all measurement files of the directories in `workers` threads. What is wrong with a file is
 * told through lib/diag.h and kept in `problems`; a directory that gives nothing is told too.
 * Ends the process with status 1 when no file could be read. */
void inputs_read(struct inputs *inputs, char *const *directories, size_t count, unsigned workers);

/* Gives every metric that an event is measured with another one for what of it is overhead and,
 * where tags tell kinds of overhead, one for what of that is of each kind. Once the kinds are
 * known, and before values are looked at. */
void inputs_add_overhead(struct inputs *inputs);

/* Gives every metric that an event is measured with another one for what of it is waiting. */
void inputs_add_waiting(struct inputs *inputs);

/* Frees the call paths and values of all threads, the bulk of it, before the rest. */
void inputs_free_trees(struct inputs *inputs);

void inputs_free(struct inputs *inputs);

/* Whether some event pays a metric of this recorded name. */
bool inputs_has_metric(const struct inputs *inputs, const char *recorded_name);

/* Why the values of a metric are lower bounds; NULL where they are not. */
const char *inputs_lower_bound(const struct inputs *inputs, const struct metric *metric);

/* The largest number of workers that a process of the run had and could run at once (n); 0 where no
 * agent counted workers. */
uint64_t inputs_most_workers(const struct inputs *inputs);

/* Whether two processes ran on one host. */
bool inputs_same_host(const struct measurement *x, const struct measurement *y);

/* Amounts of an event in its unit (s or count). */
double event_amount(const struct event *event, unsigned __int128 amount);

#endif
