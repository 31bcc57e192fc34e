/* The processes that the user asked for, as hpcrun gives them to hpcrun-outside: "12,345" of -p, of which each must be
 * measurable; or "named:12,345" of --name, whose others are counted and left out: programs of 32 bits, or processes that
 * have ended since they were listed. */
#ifndef HPCRUN_OUTSIDE_GIVEN_PROCESSES_H
#define HPCRUN_OUTSIDE_GIVEN_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>

struct given_processes {
    int *pids; /* each once */
    size_t count;
    bool is_named;
};

/* Ends the process with a message if the text is wrong. The caller frees `pids`. */
struct given_processes given_parse(const char *text);

/* Calls `open`, if not NULL, for each process that may be measured, and keeps those for which it returns 0; else it
 * returns a negative errno. Prints which are left out. False if a process of -p can't be measured, or if none is left;
 * the reason is printed, too. */
bool given_open(struct given_processes *given, int (*open)(int pid));

#endif
