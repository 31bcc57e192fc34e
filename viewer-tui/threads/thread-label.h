/* How a thread is called wherever it is shown, and what regular expressions for threads look at:
 *
 *     solver 71/73                      its name, process and thread id
 *     rank 3 on node2: solver 71/73     in a parallel job; hosts where there are several
 *     NODE 7 RANK 3 THREAD 2            its identity in the database where run.json says nothing */
#ifndef VIEWER_THREAD_LABEL_H
#define VIEWER_THREAD_LABEL_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/threads/run-threads.h"

/* Adds the label of a thread, safe for terminals. `with_host`: run_hosts_differ(run). */
void thread_label(const struct thread *thread, bool with_host, bool ascii, struct text *out);

#endif
