/* When events of the CPUs take the place of those of threads, if this user may have them. They have samples of all
 * programs; the reader leaves out those of others. Reasons (short-turns.h):
 *
 *   SHORT_TURNS  a thread waits often, as those of servers do. At each switch to a thread that has an event,
 *                perf sets its timer, which takes a microsecond or more in a virtual machine. And a sample that is due
 *                within 10 us after the switch comes later, mostly when the thread is about to wait again. An event of
 *                a CPU has neither fault: it counts on while the kernel switches
 *   SHORT_LIVES  threads or child processes end without a sample: each counts its first period from its begin, so
 *                what lives for less has none. By events of the CPUs, any of them may have one */
#ifndef HPCRUN_OUTSIDE_CPU_EVENTS_H
#define HPCRUN_OUTSIDE_CPU_EVENTS_H

#include "hpcrun/base/text-buffer.h"

/* Whether there is a reason, the event allows it, and it has not been tried yet. Looks four times a second. `now`:
 * CLOCK_MONOTONIC. */
bool cpu_events_are_wanted(uint64_t now);

/* They were opened, or could not be. */
void cpu_events_note(bool are_open);

/* Adds whether they are used, or what is wrong without them; nothing if no thread runs in short turns. */
void cpu_events_add(struct text *line);

#endif
