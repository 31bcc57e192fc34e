/* Signal handler: everything here runs there.
 *
 * What becomes of a sample: its fate, its path, its place in the tree. */
#ifndef HPCRUN_SAMPLE_SAMPLE_H
#define HPCRUN_SAMPLE_SAMPLE_H

#include "hpcrun/source/sample-source.h"

/* Unwinds from `context`, enters the path into the thread's tree and pays the event's metrics. */
void sample_record(struct thread *thread, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context);

/* Counts a sample that came while the process was ending, or did not come before. */
void sample_count_missed(struct thread_event *event, const struct increment *increment);

#endif
