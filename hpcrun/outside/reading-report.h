/* The line at the end of a measurement from outside:
 *
 *     measured from outside: 3 programs, 1204 samples in 6.112 s CPU; reading took 0.012 s CPU, copies of stacks had 4
 *     to 60 KB
 *
 * If there is no line for each given process, the measurement directory follows. */
#ifndef HPCRUN_OUTSIDE_READING_REPORT_H
#define HPCRUN_OUTSIDE_READING_REPORT_H

/* Prints it, or, with -q, notes it in hpcrun.log. When all workers have been reaped. */
void report_reading(void);

#endif
