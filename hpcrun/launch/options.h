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

struct options {
    struct event_request events[MAX_EVENTS];
    unsigned event_count; /* 0: the default */
    const char *output;   /* NULL: the default */
    int signal;           /* 0: choose */
    const char *agents;   /* names joined by commas, "auto" or "none" */
    unsigned cores;       /* 0: those that the process may use */
    bool list_events;     /* -L */
    bool list_all_events; /* with it: also those that can't be used */
    bool collapse_recursion, start_off, quiet, shared;
    char **command; /* NULL-terminated; NULL when there is none */
};

/* Reads the command line; ends the process with a message when it makes no sense, and after
 * --help and --version. */
void options_read(struct options *options, int count, char **arguments);

/* Splits "NAME[@PERIOD|@fRATE]" into a request; on failure returns what is wrong, else NULL. */
const char *options_parse_event(const char *text, struct event_request *request);

#endif
