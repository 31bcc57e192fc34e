/* Measures one process from outside, in a process of its own: all that the sampler keeps of a process
 * (process/process.h, code/module-instances.h, record/measurement-file.h) is of the measured one. */
#ifndef HPCRUN_OUTSIDE_OUTSIDE_WORKER_H
#define HPCRUN_OUTSIDE_OUTSIDE_WORKER_H

#include <stdbool.h>

struct outside_work {
    int pid;
    char *const
        *command; /* what the process is about to execute, NULL-terminated; NULL: it runs already */
    bool gains_rights; /* the command's file gives rights: the kernel ends the events when it begins */
    int go;       /* with a command: a byte written there lets it execute it */
    double seconds; /* to measure; 0: to the end */
};

/* Whether this process may sample that one. If not, prints why. */
bool outside_may_sample(int pid);

enum outside_end { OUTSIDE_ENDED, OUTSIDE_FAILED, OUTSIDE_EXEC };

/* Measures until the process ends or executes another program, the time is over, or the signal SIGINT or
 * SIGTERM comes. Prints a message if it fails. */
enum outside_end outside_measure(const struct outside_work *work);

#endif
