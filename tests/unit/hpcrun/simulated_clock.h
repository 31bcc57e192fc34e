/* Takes the place of hpcrun/span/strand-clock.c: the thread whose event comes next has executed a
 * strand of a time that the test sets. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_CLOCK_H
#define TESTS_UNIT_HPCRUN_SIMULATED_CLOCK_H

#include <stdint.h>

/* Of the strand that ends next, or is cut next; 0 afterwards. */
extern uint64_t strand_time;

/* What measuring adds to each strand, and its uncertainty; 0 at first. */
extern uint64_t strand_excess, strand_error;

#endif
