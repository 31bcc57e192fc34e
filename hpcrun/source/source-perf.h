/* Signal handler: perf_measure and perf_arm run there.
 *
 * Sources on perf_event_open: the task clock, and counters. The event is enabled for one overflow
 * (PERF_EVENT_IOC_REFRESH 1), which sends the sampling signal to the thread and disables it;
 * the handler sets the next period and enables it again. So a thread that blocks the signal has at
 * most one waiting, and nothing counts while the handler runs. */
#ifndef HPCRUN_SOURCE_SOURCE_PERF_H
#define HPCRUN_SOURCE_SOURCE_PERF_H

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/config/run-config.h"

/* Whether this process may open a task clock that sees the kernel: 0, or a negative errno. */
long perf_probe_task_clock(void);

/* Appends why perf_probe_task_clock failed with `error`: which of the kernel's settings refuses it,
 * or that none does (normal context: opens files). */
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
