/* The program's perf map: /tmp/perf-PID.map, in which compilers at run time (node, java, python,
 * LuaJIT ...) name the code that they made, a line "START SIZE NAME" in hexadecimal for each piece.
 *
 * It is copied into the measurement file at the image's end: only there the file is surely this
 * image's, named by the pid that its own namespace gives, and seen under its own root. What is
 * copied is not understood here: that is the reader's. For normal context and fatal signals. */
#ifndef HPCRUN_RECORD_PERF_MAP_H
#define HPCRUN_RECORD_PERF_MAP_H

#include "hpcrun/record/chunk.h"

/* More of a map is not copied, and the log says so. */
#define PERF_MAP_MAX_BYTES (64u << 20)

/* In the child of a fork: it goes on with the code that its parent made, in the parent's map. */
void perf_map_after_fork(int parent);

/* Appends the map, if samples met code in no module and the map is a regular file of our own that
 * was written since the program began. False when the measurement can't be written. */
bool perf_map_write(struct chunk *chunk);

#endif
