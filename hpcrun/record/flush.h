/* Signal handler: flush_thread runs there, on the exit path, about every ten seconds.
 *
 * Writes what a thread has collected since the last time as increments. Nothing is forgotten before
 * it is written: when a chunk can't be, its data stays for the next try. */
#ifndef HPCRUN_RECORD_FLUSH_H
#define HPCRUN_RECORD_FLUSH_H

#include "hpcrun/thread/thread.h"

/* Flush this often, ns. */
#define FLUSH_INTERVAL 10000000000u

/* Writes the increments of `thread`: by the thread itself, or by another when it is quiescent.
 * `ended`: it is its last. False when not everything could be written. */
bool flush_thread(struct thread *thread, bool ended);

/* Writes the joins that a thread has made. Normal context, in the thread, while it is busy. False
 * when they could not be written. */
bool flush_joins(struct thread *thread);

/* Sums over the threads that were flushed with ended, and over all flushes. For the summary. */
struct flush_totals {
    struct flush_ends {
        uint64_t cpu, wall; /* their lives, ns */
        uint64_t nodes, node_bytes, trees;
    } ends;                                          /* of ended threads */
    struct fate_count fates[MAX_EVENTS][FATE_SLOTS]; /* of everything flushed */
    uint8_t sources[MAX_EVENTS];                     /* set of enum sample_source, by bit */
    uint64_t threads;                                /* that are in the file */
};
const struct flush_totals *flush_totals(void);
/* Forgets all of them: in the child of a fork. */
void flush_forget_totals(void);
/* After an exec that failed: threads that live on did not end. `before`: as it was before. */
void flush_restore_ends(const struct flush_ends *before);

#endif
