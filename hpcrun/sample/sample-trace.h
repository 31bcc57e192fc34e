/* Signal handler: everything here runs there.
 *
 * The time line of a thread: each sample of the traced event leaves records of what it found
 * (lib/trace-format.h), which are thinned when there are too many. lib/arena-format.h has the states of the
 * trace while it changes: a killed process leaves one of them. */
#ifndef HPCRUN_SAMPLE_SAMPLE_TRACE_H
#define HPCRUN_SAMPLE_SAMPLE_TRACE_H

#include "hpcrun/source/increment.h"
#include "hpcrun/thread/thread.h"

/* Records a sample, after its node was published. `found`: what sample_record returned. Without memory for
 * more records, the trace is thinned. */
void sample_trace(struct thread *thread, const struct increment *increment,
                  const struct trace_record *found);

#endif
