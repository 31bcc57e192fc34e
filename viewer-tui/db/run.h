/* DB/run.json: the facts about a run for which the v4 format has no place (doc/FORMAT-database.md).
 * It is used as it is. Members that are missing or have another type read as "" or 0, so that a
 * damaged file costs only what is damaged. */
#ifndef VIEWER_RUN_H
#define VIEWER_RUN_H

#include "viewer-tui/base/text.h"

#include <jansson.h>

/* Goes through the elements of an array: json_each (process, json_object_get(run, "processes")) ...; nothing for NULL.
 * `array` is evaluated for each element. The inner loop runs once for an element. The outer one ends where there is no
 * further element, or the inner one was left by `break`. */
#define json_each(element, array)                                                                  \
    for (size_t element##_at = 0, element##_goes_on = 1; element##_goes_on; element##_at++)        \
        for (json_t *element = (element##_goes_on = 0, json_array_get(array, element##_at)); element; \
             element = NULL, element##_goes_on = 1)

/* NULL if there is no such file, or, with the problem noted, if it is damaged or of an earlier
 * hpcprof. The caller releases it with json_decref (NULL allowed). */
json_t *run_read(const char *folder);

/* Whether the database is of the measurement files in a directory: all that it names are there. */
bool run_is_of(const char *folder, const char *measurements);

/* Sum of the workers of all processes; 0 unknown. */
double run_workers(const json_t *run);

/* The most CPUs that a process could use; 0 unknown. */
unsigned run_most_cpus(const json_t *run);

/* The description of the metric with this name, or NULL. */
const json_t *run_metric(const json_t *run, const char *name);

/* The sampling period of the metric's event; 0 unknown. */
double run_period(const json_t *run, const char *metric);

/* The mean increment per sample of the metric's event: the period, or more if samples are late; of a piece of time
 * that of its records (run-slice.h). 0 unknown. */
double run_increment(const json_t *run, const char *metric);

/* The largest number of workers in one process; if no process has any, of threads. At least 1. */
double run_most_workers(const json_t *run);

/* The name of the program that a process ran. */
const char *run_program_of(const json_t *process);

/* The names of all programs, each once. The caller frees with vec_free. */
typedef VEC(const char *) program_names;
program_names run_programs(const json_t *run);

/* Whether the processes ran on more than one host. */
bool run_hosts_differ(const json_t *run);

/* The largest error of the wall clocks of its hosts, by their kernels' account, seconds; NAN: unknown of one. */
double run_clock_error(const json_t *run);

/* The rank of a process in its parallel job; -1 if it has none. */
int64_t run_rank(const json_t *process);

/* Appends "rank 3 on node2: ", or as much of it as is known. */
void run_add_place(const json_t *process, bool with_host, bool ascii, struct text *out);

/* Members of an object; "" and 0 of any other value. */
const char *run_text(const json_t *object, const char *key);
double run_number(const json_t *object, const char *key);

/* What a run was, and how long it took: the facts of the first line of views. */
struct run_times {
    const char *command; /* of the launched process, in `run`, or SYSTEM_TITLE; NULL: unknown. If it executed several
                            programs (wrappers that are scripts), of the one with most CPU time */
    size_t processes;
    double wall;         /* seconds, of the launched process that took longest, of the system of any; of all, if the CPU
                            time is more than its CPUs have: daemons worked on after it. 0: unknown */
    double cpu;          /* seconds, of all processes */
    double cpus;         /* CPUs that they could use; 0: unknown */
    double startup;      /* CPU seconds before sampling, not in `cpu`, of the processes that launched ones started */
    size_t started;      /* number of these */
};

/* Whether it is one of hpcrun -a. `run` may be NULL, here and below. */
bool run_is_of_system(const json_t *run);

struct run_times run_times_of(const json_t *run);

/* CPUs that were used, on average. */
static inline double run_cpus_used(const struct run_times *times)
{
    return times->wall > 0 ? times->cpu / times->wall : 0;
}

#endif
