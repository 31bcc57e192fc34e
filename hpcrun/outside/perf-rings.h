/* The rings that perf's records come through: a ring buffer for each CPU, to which events write (perf-events.h). A ring
 * belongs to an event of this process that has no samples, so it stays when others end.
 *
 * records   perf-records.h */
#ifndef HPCRUN_OUTSIDE_PERF_RINGS_H
#define HPCRUN_OUTSIDE_PERF_RINGS_H

#include "hpcrun/outside/ring-reader.h"

#define MAX_CPUS 1024

/* Maps a ring for each CPU that is online, all of the same size and together at most most_bytes, unless there are some.
 * `wakes_late`: wait until one is half full. Returns 0, or a negative errno; -ENOBUFS: the user may not lock so much
 * memory. */
int perf_rings_map(size_t most_bytes, bool wakes_late);

/* Of all rings; and of each. */
size_t perf_rings_bytes(void);
size_t perf_rings_bytes_of_each(void);

/* Waits until a ring has 16 KB (wakes_late: is half full), until another descriptor is ready, or for a time, ms. */
void perf_rings_wait(int other, int milliseconds);

/* Takes the records from the rings in the order of their times. The youngest of them stay there, unless these
 * are the last ones. Returns until which time there is none left.
 *
 * `visit` returns whether it has taken the record. If not, this one and those after it stay in the rings, which have
 * room for more of them than a worker's queue. It must take one that is_urgent: it is a second old, or a ring is half
 * full. */
typedef bool perf_record_visit_function(const struct perf_event_header *record, bool is_urgent);
uint64_t perf_rings_read(bool is_last, perf_record_visit_function *visit);

/* While perf_rings_read visits a record: whether a ring was so full since the reading before that the kernel may have
 * lost any record. */
bool perf_rings_are_full(void);

/* The rings, of perf_rings_cpus(). NULL: CPU i has none. */
unsigned perf_rings_cpus(void);
const struct ring *perf_rings_at(unsigned i);

#endif
