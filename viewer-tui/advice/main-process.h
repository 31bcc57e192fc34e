/* The process that a run is about: the one that used most CPU time, with what run.json knows of it
 * and of its threads. */
#ifndef VIEWER_MAIN_PROCESS_H
#define VIEWER_MAIN_PROCESS_H

#include "lib/alloc.h"
#include "viewer-tui/db/run.h"

#include <stdbool.h>
#include <stdint.h>

struct process_thread {
    uint32_t profile; /* its number in profile.db */
    const char *name; /* "" unknown */
    const char
        *start_routine; /* the procedure that it began with; "" unknown, or the initial one */
    bool is_initial;
    double cpu, wall; /* seconds */
};

struct main_process {
    const json_t *process;  /* NULL: there is none */
    const char *executable; /* base name */
    const char *command;
    double wall, cpu;  /* seconds; cpu of its threads */
    double cpu_of_run; /* of all processes */
    double cpus;       /* that it could use; 0 unknown */
    bool is_only_one;  /* no other process used a tenth of its CPU time */
    VEC(struct process_thread) threads;
};

/* The texts are those of `run`, which may be NULL. The caller frees the list of threads. */
struct main_process main_process_of(const json_t *run);

/* How many of its threads can run at the same time: as many as there are, or CPUs; at least 1. */
double main_process_most_running(const struct main_process *process);

#endif
