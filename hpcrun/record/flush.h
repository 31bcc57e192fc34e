/* Signal handler: flush_thread runs there, at the end of a sample, about every ten seconds, if the
 * thread has no image in an arena file (record/arena-file.h).
 *
 * Writes what a thread has collected since the last flush, as increments. Data is cleared only
 * after it is written: if a chunk can't be written, its data stays for the next flush. A live image
 * ends with the first flush, whether that is complete or not. Except for the last flush: if that
 * fails, an image that has all data stays live (thread->kept), and readers ignore the chunks. */
#ifndef HPCRUN_RECORD_FLUSH_H
#define HPCRUN_RECORD_FLUSH_H

#include "hpcrun/thread/thread.h"

/* Time between flushes of a thread, ns. */
#define FLUSH_INTERVAL 10000000000u

/* Writes the increments of `thread`; called by the thread itself, or by another one while it is
 * quiescent. `ended`: it is its last flush. False if not everything could be written; then the data
 * is lost unless thread->kept. */
bool flush_thread(struct thread *thread, bool ended);

/* Writes the joins that a thread has made. Normal context, in the thread, while it is busy. False
 * if that fails. */
bool flush_joins(struct thread *thread);

/* Sums for the summary. */
struct flush_totals {
    struct flush_ends {
        uint64_t cpu, wall; /* CPU and wall time of their lives, ns */
        uint64_t nodes, node_bytes, trees;
    } ends;                                          /* of threads that were flushed with `ended` */
    struct fate_count fates[MAX_EVENTS][FATE_SLOTS]; /* of all flushes */
    uint8_t sources[MAX_EVENTS];                     /* set of enum sample_source, by bit */
    uint64_t threads;                                /* number of threads in the files */
};
const struct flush_totals *flush_totals(void);
/* In the child of a fork: clears the sums. */
void flush_clear_totals(void);
/* After an exec that failed: restores the sums of ended threads, since all threads live on. */
void flush_restore_ends(const struct flush_ends *before);

#endif
