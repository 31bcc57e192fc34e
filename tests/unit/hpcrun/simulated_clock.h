/* Takes the place of hpcrun/span/strand-clock.c: the thread whose event comes next has executed a
 * strand of a time that the test sets. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_CLOCK_H
#define TESTS_UNIT_HPCRUN_SIMULATED_CLOCK_H

#include <stdint.h>

/* Of the strand that ends next; 0 afterwards. */
extern uint64_t strand_time;

#endif
