/* The program's perf map: /tmp/perf-PID.map. Run-time compilers (node, java, python, LuaJIT ...)
 * write the names of the code that they make there, in lines "START SIZE NAME", with hexadecimal
 * numbers.
 *
 * It is copied into the measurement file at the end of the image, since only then it is certain
 * that the file belongs to this image: its name has the pid of this namespace, and its path is
 * relative to this root. The lines are copied without parsing. For normal context and fatal
 * signals. */
#ifndef HPCRUN_RECORD_PERF_MAP_H
#define HPCRUN_RECORD_PERF_MAP_H

#include "hpcrun/record/chunk-writer.h"

#include <sys/types.h>

/* Most bytes of a map that are copied; a longer map is reported in the log. */
#define PERF_MAP_MAX_BYTES (64u << 20)

/* In the child of a fork: it still uses code that its parent made, which is in the parent's map. */
void perf_map_after_fork(int parent);

/* Appends the map, if samples have found code in no module and the map is a regular file of `owner`, written since the
 * program began (`since`, CLOCK_REALTIME). False if the measurement can't be written. */
bool perf_map_write(struct chunk *chunk, uid_t owner, uint64_t since);

#endif
