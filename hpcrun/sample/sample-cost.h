/* What a sample costs besides the time in its handler: the timer's interrupt, the signal's delivery and
 * the return to the program. */
#ifndef HPCRUN_SAMPLE_SAMPLE_COST_H
#define HPCRUN_SAMPLE_SAMPLE_COST_H

#include <stdint.h>

/* Normal context, with the handler installed: measures it in ticks, within 3 ms, by timers whose signals
 * are nobody's samples. 0: the process cannot have timers. */
uint64_t sample_cost_measure(void);

#endif
