/* The processes that are measured from the begin, in the form in which hpcrun passes them to hpcrun-outside:
 *
 *     12,345;67,89    before the semicolon those that -p names: if one of them can't be measured, none is. After it
 *                     their descendants, or the processes of --name: those that can't be measured, such as programs of
 *                     32 bits, or that have ended since hpcrun listed them, are left out and counted */
#ifndef HPCRUN_OUTSIDE_GIVEN_PROCESSES_H
#define HPCRUN_OUTSIDE_GIVEN_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct given_processes {
    int *pids; /* each once */
    size_t count;
    size_t asked; /* the first of them, which must be measured; 0: of --name */
};

/* Ends the process with a message if the text is wrong. The caller frees `pids`. */
struct given_processes given_parse(const char *text);

/* Calls `open` for each process that may be measured. It returns 0, or a negative errno; NULL: perf_events_probe. Keeps
 * the processes for which it returns 0, and prints how many are left out. False, after printing the reason, if one of
 * those that -p names can't be measured, or if none is left. */
bool given_open(struct given_processes *given, int (*open)(int pid));

/* What hpcrun-outside is to measure, and how much it may take. */
struct outside_work {
    bool is_all; /* the whole system, but for this process, its parent and its children */
    struct given_processes given;
    char *const *command; /* what the only process is about to execute, NULL-terminated; NULL: it runs already */
    bool gains_rights; /* the command's file gives rights: the kernel ends the events when it begins */
    int go;         /* with a command: a byte written there lets it execute it */
    double seconds; /* to measure; 0: to the end */
    uint64_t memory; /* bytes at most */
};

#endif
