/* Signal handler: runs there, too, where a signal ends the process.
 *
 * The sum over the processes of a run, from their notes (process/process-notes.h). */
#ifndef HPCRUN_LIFE_RUN_TOTAL_H
#define HPCRUN_LIFE_RUN_TOTAL_H

#include "hpcrun/base/text-buffer.h"
#include "lib/process-list.h"

struct run_total {
    struct image_counts counts; /* of all images that have ended */
    uint64_t processes;         /* processes that are or were measured */
    uint64_t ranks;             /* ranks with a launcher each; 0 if there is only one launcher */
    uint64_t began_at;          /* begin of the first process, CLOCK_MONOTONIC, ns */
    uint64_t incomplete;        /* programs that were not measured, or only in part */
    bool others_go_on; /* another launched process ends after this one, and prints the summary */

    struct process_list list;
    void *memory; /* of the list and its text */
    size_t size;
};

/* Reads the list of processes. False if there is none, or no memory for it. */
bool run_total_read(struct run_total *total);
void run_total_free(struct run_total *total);

/* Appends "not measured: 2 statically linked (ld, gen); measured in part: 1 killed by signal 9
 * (cc1[77])". */
void run_total_add_incomplete(const struct run_total *total, struct text *text);

#endif
