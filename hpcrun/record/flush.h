/* Signal handler: flush_thread runs there, on the exit path, about every ten seconds.
 *
 * Writes what a thread has collected since the last time as increments. Nothing is forgotten before
 * it is written: when a chunk can't be, its data stays for the next try. */
#ifndef HPCRUN_RECORD_FLUSH_H
#define HPCRUN_RECORD_FLUSH_H

#include "hpcrun/thread.h"

/* Flush this often, ns. */
#define FLUSH_INTERVAL 10000000000u

/* Writes the increments of `thread`: by the thread itself, or by another when it is quiescent.
 * `ended`: it is its last. False when not everything could be written. */
bool flush_thread(struct thread *thread, bool ended);

/* Sums over the threads that were flushed with ended, and over all flushes. For the summary. */
struct flush_totals {
    uint64_t cpu, wall;                         /* lives of ended threads, ns */
    struct tally fates[MAX_EVENTS][FATE_SLOTS]; /* of everything flushed */
    uint8_t sources[MAX_EVENTS];                /* set of enum sample_source, by bit */
    uint64_t nodes, node_bytes, trees;          /* of ended threads */
};
const struct flush_totals *flush_totals(void);
/* Forgets all of them: in the child of a fork. */
void flush_forget_totals(void);
/* Forgets the ends of threads, which were none: after an exec that failed. */
void flush_forget_ends(void);

#endif
