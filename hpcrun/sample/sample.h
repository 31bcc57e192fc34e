/* Signal handler: everything here runs there.
 *
 * Records a sample: unwinds, enters the path into the tree, adds to metrics, counts the fate. */
#ifndef HPCRUN_SAMPLE_SAMPLE_H
#define HPCRUN_SAMPLE_SAMPLE_H

#include "hpcrun/source/sample-source.h"

/* Records a sample that interrupted the thread at `context`. Stores in *found what the time line has of it: a
 * state and flags, but no amount. */
void sample_record(struct thread *thread, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context,
                   struct trace_record *found);

/* Counts a sample without recording it: it came while the process was ending, or never came. */
void sample_count_missed(struct thread_event *event, const struct increment *increment);

#endif
