/* Sets: directories of runs of one program with several numbers of workers. hpcrun makes them,
 * hpcviewer reads them. doc/FORMAT-set.md describes the index, the file that lists the runs. */
#ifndef LIB_RUN_SET_H
#define LIB_RUN_SET_H

#include "lib/alloc.h"

#include <stdbool.h>

#define RUN_SET_INDEX "set.index"

/* The repeat of the run that measures work and span: its time is none of the program's. */
#define WORK_SPAN_REPEAT 0

/* A run that ended. The serial baseline has 0 workers. */
struct set_run {
    unsigned workers;
    unsigned repeat; /* 1, 2, ..., or WORK_SPAN_REPEAT */
    int status;      /* exit status of the command; of a shell's kind, 128 + N, for a signal N */
    double wall;     /* seconds from start to end of the command, with hpcrun's own work */
    char *directory; /* name of its measurement directory in the set */
};

/* Whether it ended well, with workers, and its time is the program's. */
static inline bool set_run_counts(const struct set_run *run)
{
    return run->status == 0 && run->workers && run->repeat != WORK_SPAN_REPEAT;
}

/* A zeroed one is empty. */
struct run_set {
    char *command; /* in its printable form */
    char *serial;  /* command of the baseline; NULL: none */
    VEC(struct set_run) runs;
};

bool run_set_exists(const char *folder);

/* Reads the index. False if that failed; *cause is then a line that says why, which the caller
 * frees. The caller frees the set in both cases. */
bool run_set_read(struct run_set *set, const char *folder, char **cause);

/* Replaces the index; it is never half written. False, with *cause as above, if that failed. */
bool run_set_write(const struct run_set *set, const char *folder, char **cause);

/* Adds a run, in place of an earlier one with the same workers and repeat. Takes `directory`. */
void run_set_add(struct run_set *set, struct set_run run);

/* The run, or NULL if it has not ended. */
const struct set_run *run_set_find(const struct run_set *set, unsigned workers, unsigned repeat);

void run_set_free(struct run_set *set);

#endif
