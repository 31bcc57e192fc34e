/* The measurement files of a run, read and put into the order of the database.
 *
 * Events, metrics and load modules of all files are unified; each file keeps a table from its own
 * indices to the unified ones. Nothing changes after measurements_read: later steps have results of
 * their own. */
#ifndef HPCPROF_MEASUREMENTS_H
#define HPCPROF_MEASUREMENTS_H

#include "hpcprof/modules/load-modules.h"

#include "lib/measurement.h"
#include "lib/metric-kinds.h"

#define NO_METRIC UINT32_MAX

struct event {
    char *name;
    char *unit;      /* "s" or "count" */
    uint64_t period; /* ns or counts; with EVENT_BY_RATE ns */
    uint64_t flags;  /* enum event_flag of lib/measurement-format.h */
};

struct recorded_metric {
    char *name;     /* of a kind (lib/metric-kinds.h), or the event's name */
    uint32_t event; /* index in events */
    char *why_lower_bound; /* reason, with the process if it lacks all values; NULL: exact */
    uint64_t error;        /* the sum of all values is right within this, in their unit */
};

/* An exact metric that a process could not measure, though it ran a runtime that reports it. */
struct missing_metric {
    char *name;
    uint32_t event; /* index in events */
    uint64_t pid;
    char *why;
};

struct measurement_file {
    struct measurement *m;
    uint32_t *event_of;  /* index in m->events -> index in measurements.events */
    uint32_t *metric_of; /* index in m->metrics -> index in measurements.metrics, or NO_METRIC */
    uint32_t *module_of; /* index in m->modules -> index in measurements.modules */
    bool is_elsewhere;   /* another rank of the team has the trees; m has their digests */
};

struct measurements {
    VEC(char *) directories;            /* as given */
    VEC(struct measurement_file) files; /* by host, rank, start, pid and exec sequence */
    VEC(struct event) events;
    VEC(struct recorded_metric) metrics;
    VEC(struct missing_metric) missing; /* in the order of files */
    struct load_modules modules;
    VEC(char *) problems; /* "FILE: CAUSE", in the order of files */
};

/* Whether the frame of a node is in the kernel. */
static inline bool node_is_in_kernel(const struct measurement_file *file, const struct measurement_node *node)
{
    return node->ip_space < file->m->modules.n && file->m->modules.at[node->ip_space].flags & MODULE_KERNEL;
}

/* Reads all measurement files of the directories in `workers` threads, or the part of this rank of a
 * team (hpcprof/team/team.h), and gets the rest from the others. A damaged file is reported
 * (lib/diag.h) and listed in `problems`; a directory without files is reported. Returns false if no
 * file could be read. */
bool measurements_read(struct measurements *measurements, char *const *directories, size_t count,
                       unsigned workers);

/* Frees the call paths and values of all threads, which need most of the memory. They are empty
 * then. */
void measurements_free_trees(struct measurements *measurements);

void measurements_free(struct measurements *measurements);

/* The largest number of workers (n) that a process had and could run at the same time; 0: no agent
 * counted workers. */
uint64_t measurements_most_workers(const struct measurements *measurements);

/* Whether another process has taken the samples: hpcrun -p, -a or --outside. */
bool measurements_are_from_outside(const struct measurements *measurements);

/* Whether the agent for plain threads took part in a process. */
bool measurement_has_threads(const struct measurement *m);

/* The next agent for a runtime that took part in a process, from *at on, which is 0 for the first one
 * and moves on. NULL: no more. An agent may come more than once. */
const struct measurement_agent *measurement_next_runtime(const struct measurement *m, size_t *at);

/* Whether the agent for plain threads took part in any process. */
bool measurements_have_threads(const struct measurements *measurements);

/* Whether two processes ran on the same host. */
bool is_same_host(const struct measurement *x, const struct measurement *y);

/* An amount of an event in its unit: s or count. */
double event_amount(const struct event *event, unsigned __int128 amount);

/* Whether the unit is seconds. */
bool event_is_time(const struct event *event);

/* The same, of an event that samples measured. */
bool event_is_sampled_time(const struct event *event);

#endif
