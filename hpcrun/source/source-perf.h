/* Signal handler: perf_enable, perf_disable and perf_count run there.
 *
 * Sources that use perf_event_open: the task clock, and counters. The event is enabled for one
 * overflow (PERF_EVENT_IOC_REFRESH 1), which sends the sampling signal to the thread and disables
 * the event. The handler sets the next period and enables it again. So at most one signal is
 * pending in a thread that blocks it, and nothing is counted while the handler runs. */
#ifndef HPCRUN_SOURCE_SOURCE_PERF_H
#define HPCRUN_SOURCE_SOURCE_PERF_H

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/config/run-config.h"

/* Tries to open a task clock that includes kernel time: 0, or a negative errno. */
long perf_probe_task_clock(void);

/* Appends the reason why perf_probe_task_clock failed with `error`: the kernel setting that forbids
 * it, or the error. Normal context: opens files. */
void perf_explain_refusal(struct text *text, long error);

/* Opens the event for the calling thread, stopped; `signal` is the sampling signal. Returns a
 * descriptor or a negative errno. */
long perf_open(const struct event *event, int signal);

/* Enables an open event until its next overflow after `period`. 0 or a negative errno. */
long perf_enable(int fd, uint64_t period);
void perf_disable(int fd);

/* The count of an open counter. */
uint64_t perf_count(int fd);

#endif
