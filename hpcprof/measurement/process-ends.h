/* How the processes of a run ended, and which programs of it were not measured: from the lists of
 * processes in the measurement directories (lib/process-list.h). Directories of older versions have
 * none: then no more is known than what the measurement files say. */
#ifndef HPCPROF_PROCESS_ENDS_H
#define HPCPROF_PROCESS_ENDS_H

#include "hpcprof/measurement/measurements.h"

#include "lib/json.h"

struct run_ends;

/* The caller frees. A list that can't be read is reported, and left out. */
struct run_ends *run_ends_read(const struct inputs *inputs);
void run_ends_free(struct run_ends *ends);

/* Members of a process's object: "state", "signal", and for a process that did not write at its end
 * "data_until" (seconds of its life) and "missing_at_most" (seconds before its end), else null. */
void run_ends_write_process(struct json_writer *json, const struct run_ends *ends,
                            const struct measurement *m);

/* Elements of "problems": a line for each process whose data is incomplete. */
void run_ends_write_problems(struct json_writer *json, const struct run_ends *ends,
                             const struct inputs *inputs);

/* "unmeasured": reasons, each with the number of times that such a program was started, and the
 * programs, as hpcrun wrote them in its list. */
void run_ends_write_unmeasured(struct json_writer *json, const struct run_ends *ends);

#endif
