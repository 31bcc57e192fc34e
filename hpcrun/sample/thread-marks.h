/* Marks on the time line of the calling thread: regions that the program names (include/hpctoolkit.h).
 * Normal context. Nothing happens if no time line is recorded, or in a thread that is not measured. */
#ifndef HPCRUN_SAMPLE_THREAD_MARKS_H
#define HPCRUN_SAMPLE_THREAD_MARKS_H

#include "lib/measurement-format.h"

/* A name is cut to MARK_NAME - 1 bytes. */
void thread_mark(enum mark_kind kind, const char *name);

#endif
