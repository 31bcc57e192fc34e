/* Signal handler: runs there, too, where a signal ends the process.
 *
 * What the processes of a run have told of themselves (process/process-notes.h), added up. */
#ifndef HPCRUN_LIFE_RUN_TOTAL_H
#define HPCRUN_LIFE_RUN_TOTAL_H

#include "hpcrun/base/text-buffer.h"
#include "lib/process-list.h"

struct run_total {
    struct image_counts counts; /* of all images that have ended */
    uint64_t processes;         /* that are or were measured */
    uint64_t ranks;             /* that hpcrun launched, each by itself; else 0 */
    uint64_t began_at;          /* the first of them, CLOCK_MONOTONIC, ns */
    uint64_t incomplete;        /* programs that were not measured, or in part */
    bool others_go_on;          /* other launched processes that will end later, or have */

    struct process_list list;
    void *memory; /* of the list and its text */
    size_t size;
};

/* Reads the list of processes. False where there is none, or no memory for it. */
bool run_total_read(struct run_total *total);
void run_total_free(struct run_total *total);

/* Appends "not measured: 2 statically linked (ld, gen); measured in part: 1 killed by signal 9
 * (cc1[77])". */
void run_total_add_incomplete(const struct run_total *total, struct text *text);

#endif
