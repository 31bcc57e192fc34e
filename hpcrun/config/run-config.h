/* The configuration of a run. The launcher passes it to the preloaded library through the
 * environment of the profiled program:
 *
 *   HPCRUN_DIR      absolute path of the measurement directory (made by the launcher)
 *   HPCRUN_OWNER    user id of the directory's owner; absent: not known
 *   HPCRUN_EVENTS   the events, joined by ';', each
 *                   "NAME|KIND|PERIOD|INTERVAL|TYPE|CONFIG|CONFIG1|CONFIG2|FLAGS" (all but NAME and
 *                   KIND decimal)
 *   HPCRUN_OPTIONS  letters: c collapse recursion, d start with sampling off, q no summary line on
 *                   the terminal, s files for other users, too, as far as the umask lets them,
 *                   w work and span, g their dag, too
 *   HPCRUN_SIGNAL   number of the sampling signal; absent: the library chooses
 *   HPCRUN_AGENTS   the agents that may be used (logical/agent-loader.h); absent: none
 *   HPCRUN_TASK_CONTEXTS  for the agent gomp: "full", "site" or "off"; absent: full
 *   HPCRUN_CORES    number of CPUs that counts for idleness; absent: those that the process may use
 *   HPCRUN_TRACE    number of records that a thread's trace may have (lib/trace-format.h); absent:
 *                   TRACE_RECORDS
 *   HPCRUN_FILTERS  number of the launcher's seccomp filters, if none ends a process that makes an
 *                   arena file (launch/harmless-filters.h); else 0 or absent
 *   HPCRUN_PID      process id of the launcher, which becomes the command by an exec
 *
 * Child processes inherit these variables and are profiled, too. The library reads them from the
 * `envp` of its constructor. This file is part of the library and of the launcher: it uses no libc.
 */
#ifndef HPCRUN_CONFIG_RUN_CONFIG_H
#define HPCRUN_CONFIG_RUN_CONFIG_H

#include "hpcrun/base/text-buffer.h"

#include <limits.h>

/* The program, next to the library, that measures from outside. It does not measure processes with this name: two that measure
 * each other would have ever more to do. */
#define OUTSIDE_PROGRAM "hpcrun-outside"

#define MAX_EVENTS     8
#define MAX_EVENT_NAME 128

/* Mean CPU time between samples of an event without a period, ns: 200 samples per second. */
#define DEFAULT_INTERVAL 5000000u

enum event_kind { EVENT_CPUTIME = 'C', EVENT_REALTIME = 'R', EVENT_COUNTER = 'P' };

enum event_option {
    EVENT_CHOSEN_BY_DEFAULT = 1,
    EVENT_EXCLUDE_KERNEL = 2,
    EVENT_KERNEL_FRAMES = 4, /* samples in the kernel have its frames; CPUTIME is then timed by perf alone */
};

struct event {
    char name[MAX_EVENT_NAME];
    enum event_kind kind;
    uint64_t period; /* mean period: ns for time, else a count; with `interval`, the first guess */
    /* Sampling by rate, for counters without a period: the mean CPU time between two samples of a
     * thread, ns. The period then follows the thread's counts. 0: the period is fixed. */
    uint64_t interval;
    /* EVENT_COUNTER: fields of struct perf_event_attr. */
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
    unsigned owner;     /* user id of the directory's owner; UINT_MAX: not known */
    unsigned filters;   /* the value of HPCRUN_FILTERS; 0: absent */
    unsigned cores;     /* CPUs that count for idleness; 0: those that the process may use */
    unsigned trace_limit; /* of records; 0: nothing is traced */
    unsigned traced;      /* index of the event that is traced */
    const char *agents; /* value of HPCRUN_AGENTS, in the environment; "" for none */
    bool collapse_recursion, start_off, quiet, shared, work_span;
    bool is_outside; /* the process is measured by another one (outside/) */
};

static inline bool config_wants_kernel_frames(const struct config *config)
{
    unsigned options = 0;
    for (unsigned i = 0; i < config->event_count; i++)
        options |= config->events[i].options;
    return options & EVENT_KERNEL_FRAMES;
}

/* Names of the environment variables. */
#define CONFIG_DIR           "HPCRUN_DIR"
#define CONFIG_EVENTS        "HPCRUN_EVENTS"
#define CONFIG_OPTIONS       "HPCRUN_OPTIONS"
#define CONFIG_SIGNAL        "HPCRUN_SIGNAL"
#define CONFIG_PID           "HPCRUN_PID"
#define CONFIG_AGENTS        "HPCRUN_AGENTS"
#define CONFIG_TASK_CONTEXTS "HPCRUN_TASK_CONTEXTS"
#define CONFIG_CORES         "HPCRUN_CORES"
#define CONFIG_OWNER         "HPCRUN_OWNER"
#define CONFIG_FILTERS       "HPCRUN_FILTERS"
#define CONFIG_TRACE         "HPCRUN_TRACE"

/* Reads the configuration; false if there is none or it is malformed. */
bool config_read(struct config *config, char *const *environment);

/* Appends the value of CONFIG_EVENTS for `config` to `text`. */
void config_write_events(const struct config *config, struct text *text);

/* The value of an environment variable, or NULL. */
const char *config_variable(char *const *environment, const char *name);

/* ---- metrics ---- */

#define MAX_METRICS (9 * MAX_EVENTS + 3)

struct metric {
    const char *name;
    unsigned event;
};

/* The metrics of a run. Arrays hold metric ids by event; NO_METRIC if the event has no such metric.
 */
struct metrics {
    unsigned count;
    struct metric at[MAX_METRICS];
    unsigned work[MAX_EVENTS];     /* every event: what it measures */
    unsigned wall[MAX_EVENTS];     /* time events: share of the time in which any thread worked;
                                      not from outside, where the threads that work are not counted */
    unsigned off_cpu[MAX_EVENTS];  /* REALTIME: time in which the thread wanted no CPU */
    unsigned ready[MAX_EVENTS];    /* REALTIME: time in which it had none that it wanted */
    unsigned idleness[MAX_EVENTS]; /* time events with agents: blame for idle workers */
    /* Time events with agents: time in which some worker was idle. */
    unsigned incomplete[MAX_EVENTS];
    /* Time events with agents: time of threads that wait; blame for threads that wait for a lock,
     * in its holder; the same in the thread that waits. */
    unsigned waiting[MAX_EVENTS], lock_blame[MAX_EVENTS], lock_wait[MAX_EVENTS];
    /* With work and span: of the event STRANDS_EVENT, whose index is the number of events. */
    unsigned strand_work, span, burdened_span;
};

#define NO_METRIC UINT32_MAX

/* The event of exact times, which are measured from one action of the runtime to the next. */
#define STRANDS_EVENT "STRANDS"

void metrics_init(struct metrics *metrics, const struct config *config);

/* ---- rank ---- */

#define NO_RANK (-1)

/* The rank of a process in a parallel job, as the job's launcher says in its environment: Open MPI,
 * MPICH and MVAPICH (PMI), PMIx, Slurm's srun. NO_RANK outside of jobs, and for a job's batch
 * script, which is none of its tasks. */
int64_t rank_in(char *const *environment);

#endif
