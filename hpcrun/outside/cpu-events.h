/* When events of the CPUs take the place of those of threads, if this user may have them. They have samples of all
 * programs; the reader leaves out those of others. Reasons:
 *
 *   SHORT_TURNS  a thread waits often, as those of servers do. perf sets its timer anew at each switch to a thread that has
 *                an event, which takes a microsecond or more in a virtual machine. And a sample that is due within 10 us
 *                after the switch comes later, mostly when the thread is about to wait again. An event of a CPU has
 *                neither fault: it counts on while the kernel switches
 *   SHORT_LIVES  threads or child processes end without a sample: each counts its first period from its begin, so
 *                what lives for less has none. By events of the CPUs, any of them may have one */
#ifndef HPCRUN_OUTSIDE_CPU_EVENTS_H
#define HPCRUN_OUTSIDE_CPU_EVENTS_H

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/outside/measured-process.h"

enum wants_cpus { SHORT_TURNS = 1, SHORT_LIVES = 2 };

/* Number of threads, or of child processes, that have ended without a sample. */
#define MANY_UNSEEN 8u

/* Whether a thread has had the CPU for less than 0.1 ms at a time, on average since the last look. A look takes at least
 * 20 ms of its CPU time: *last is `now` then. */
bool turns_are_short(struct scheduled *last, const struct scheduled *now);

/* Whether there is a reason, the event allows it, and it has not been tried yet. */
bool cpu_events_are_wanted(void);

/* They were opened, or could not be. */
void cpu_events_note(bool are_open);

/* Adds whether they are used, or what is wrong without them; nothing if no thread runs in short turns. */
void cpu_events_add(struct text *line);

#endif
