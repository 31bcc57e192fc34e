/* The lines of comma-separated values that Cilkscale writes, to standard output or to the file that
 * the environment variable CILKSCALE_OUT names. */
#ifndef HPCRUN_CILKTOOL_PROBE_OUTPUT_H
#define HPCRUN_CILKTOOL_PROBE_OUTPUT_H

#include "hpcrun/cilktool/cilkscale-probes.h"

/* Cilkscale's interface. Writes a line, and the heading before the first one. */
void wsp_dump(wsp_t values, const char *tag);

/* From now on the sums of the program are written, with an empty tag, when the process ends; or, to
 * standard error, why they are not known. */
void probe_output_at_exit(void);

#endif
