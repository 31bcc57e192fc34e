/* Marks on the time line of the calling thread: regions that the program names (include/hpctoolkit.h).
 * Normal context. Nothing happens if no time line is recorded, or in a thread that is not measured. */
#ifndef HPCRUN_SAMPLE_THREAD_MARKS_H
#define HPCRUN_SAMPLE_THREAD_MARKS_H

#include "lib/measurement-format.h"

/* A name is cut to MARK_NAME - 1 bytes. */
void thread_mark(enum mark_kind kind, const char *name);

/* A region whose end does not name it: the latest open one with that key ends. */
void thread_range_begin(const void *key, const char *name);
void thread_range_end(const void *key);

#endif
