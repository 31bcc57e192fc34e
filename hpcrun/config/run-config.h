/* What the launcher tells the preloaded library, through the environment of the profiled program:
 *
 *   HPCRUN_DIR      absolute path of the measurement directory (made by the launcher)
 *   HPCRUN_OWNER    number of the user that the directory belongs to; absent: not known
 *   HPCRUN_EVENTS   the events, joined by ';', each
 *                   "NAME|KIND|PERIOD|INTERVAL|TYPE|CONFIG|CONFIG1|CONFIG2|FLAGS" (all but NAME and
 *                   KIND decimal)
 *   HPCRUN_OPTIONS  letters: c collapse recursion, d start with sampling off, q no summary line on
 *                   the terminal, s files for other users, too, as far as the umask lets them
 *   HPCRUN_SIGNAL   number of the sampling signal; absent: the library chooses
 *   HPCRUN_AGENTS   the agents that may be used (logical/agent-loader.h); absent: none
 *   HPCRUN_CORES    what counts as the machine's number of CPUs for idleness; absent: those that
 *                   the process may use
 *   HPCRUN_PID      process that the launcher became
 *
 * Children inherit it and are profiled too. The library reads it from the `envp` of its constructor
 * and uses no libc: this file is part of both. */
#ifndef HPCRUN_CONFIG_RUN_CONFIG_H
#define HPCRUN_CONFIG_RUN_CONFIG_H

#include "hpcrun/base/text-buffer.h"

#include <limits.h>

#define MAX_EVENTS     8
#define MAX_EVENT_NAME 128

/* CPU time between samples of an event without a period: 200 per second, ns. */
#define DEFAULT_INTERVAL 5000000u

enum event_kind { EVENT_CPUTIME = 'C', EVENT_REALTIME = 'R', EVENT_COUNTER = 'P' };

enum event_option { EVENT_CHOSEN_BY_DEFAULT = 1, EVENT_EXCLUDE_KERNEL = 2 };

struct event {
    char name[MAX_EVENT_NAME];
    enum event_kind kind;
    uint64_t period; /* mean; ns for time, else a count: with `interval` the first guess */
    /* Counters without a period: the mean CPU time of a thread between two of its samples, ns. The
     * period follows the thread's counts. 0: the period is fixed. */
    uint64_t interval;
    /* For EVENT_COUNTER, what perf_event_open takes. */
    uint32_t perf_type;
    uint64_t perf_config, perf_config1, perf_config2;
    unsigned options;
};

static inline bool event_is_time(const struct event *event)
{
    return event->kind != EVENT_COUNTER;
}

struct config {
    char directory[PATH_MAX];
    struct event events[MAX_EVENTS];
    unsigned event_count;
    int signal; /* 0: choose */
    int launched_pid;
    unsigned owner;     /* of the directory; UINT_MAX: not known */
    unsigned cores;     /* 0: those that the process may use */
    const char *agents; /* in the environment; "" for none */
    bool collapse_recursion, start_off, quiet, shared;
};

/* Names of the environment variables. */
#define CONFIG_DIR     "HPCRUN_DIR"
#define CONFIG_EVENTS  "HPCRUN_EVENTS"
#define CONFIG_OPTIONS "HPCRUN_OPTIONS"
#define CONFIG_SIGNAL  "HPCRUN_SIGNAL"
#define CONFIG_PID     "HPCRUN_PID"
#define CONFIG_AGENTS  "HPCRUN_AGENTS"
#define CONFIG_CORES   "HPCRUN_CORES"
#define CONFIG_OWNER   "HPCRUN_OWNER"

/* Reads the configuration; false when there is none or it makes no sense. */
bool config_read(struct config *config, char *const *environment);

/* Appends the value of CONFIG_EVENTS for `config` to `text`. */
void config_write_events(const struct config *config, struct text *text);

/* The value of an environment variable, or NULL. */
const char *config_variable(char *const *environment, const char *name);

/* ---- metrics ---- */

#define MAX_METRICS (4 * MAX_EVENTS)

struct metric {
    const char *name;
    unsigned event;
};

struct metrics {
    unsigned count;
    struct metric at[MAX_METRICS];
    unsigned work[MAX_EVENTS];     /* of every event: the id of what it measured */
    unsigned blocked[MAX_EVENTS];  /* of wall-clock events: the part off the CPU; else NO_METRIC */
    unsigned idleness[MAX_EVENTS]; /* of time events: blame for idle workers; else NO_METRIC */
    unsigned incomplete[MAX_EVENTS]; /* of time events: the time in which not every worker had work;
                                        else NO_METRIC */
};

#define NO_METRIC UINT32_MAX

void metrics_init(struct metrics *metrics, const struct config *config);

/* ---- rank ---- */

#define NO_RANK (-1)

/* The rank of a process in a parallel job, as the job's launcher says in its environment: Open MPI,
 * MPICH and MVAPICH (PMI), PMIx, Slurm's srun. NO_RANK outside of jobs, and for a job's batch
 * script, which is none of its tasks. */
int64_t rank_in(char *const *environment);

#endif
