/* What hpcrun-outside is to measure, and how much it may take. */
#ifndef HPCRUN_OUTSIDE_OUTSIDE_WORK_H
#define HPCRUN_OUTSIDE_OUTSIDE_WORK_H

#include "hpcrun/outside/given-processes.h"

#include <stdint.h>

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
