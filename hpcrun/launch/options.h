/* The command line of hpcrun. */
#ifndef HPCRUN_LAUNCH_OPTIONS_H
#define HPCRUN_LAUNCH_OPTIONS_H

#include "hpcrun/config/run-config.h"

/* A request for an event, as `-e NAME[@PERIOD|@fRATE]` gives it. */
struct event_request {
    const char *name; /* owned; without the period */
    uint64_t period;  /* ns for time events, else a count; 0: not given */
    double rate;      /* per second; 0: not given */
};

#define MAX_WORKER_COUNTS 64 /* of a set */

#define OUTSIDE_ALL "all" /* processes */

struct options {
    struct event_request events[MAX_EVENTS];
    unsigned event_count;      /* 0: the default event */
    const char *output;        /* NULL: the default directory */
    int signal;                /* number of a real-time signal; 0: choose a free one */
    const char *agents;        /* names joined by commas, "auto" or "none" */
    const char *task_contexts; /* "full", "site" or "off"; NULL: not given */
    unsigned trace;   /* records that a thread's trace may have; 0: nothing is traced */
    unsigned cores;   /* number of CPUs that idleness counts; 0: those that the process may use */
    bool list_events; /* -L */
    bool list_all_events; /* -L all: also list events that can't be used */
    bool is_on_llvm_openmp; /* --openmp=llvm */
    bool kernel;            /* --kernel */
    bool collapse_recursion, start_off, quiet, shared, work_span;
    /* A set: numbers of workers, none: one run; and how often each; the command of the serial
     * baseline, NULL: none. */
    unsigned workers[MAX_WORKER_COUNTS], worker_count, repeats;
    const char *serial;
    /* From outside: the command, or processes that run already, for a time; 0: to their end. */
    bool is_outside;
    const char *pids; /* numbers joined by commas, or OUTSIDE_ALL; NULL: a command */
    const char *name; /* a shell pattern for the names of processes; NULL: none */
    double seconds;
    uint64_t memory; /* bytes that measuring from outside may take; 0: the default */
    char **command; /* NULL-terminated; NULL if there is none */
};

/* Reads the command line. Ends the process with status 2 if it is wrong, and with status 0 after
 * --help and --version. */
void options_read(struct options *options, int count, char **arguments);

/* Splits "NAME[@PERIOD|@fRATE]" into a request; returns NULL, or what is wrong. */
const char *options_parse_event(const char *text, struct event_request *request);

#endif
