/* Normal context, and fatal signals: the events of all threads at once. */
#ifndef HPCRUN_LIFE_SAMPLING_SWITCH_H
#define HPCRUN_LIFE_SAMPLING_SWITCH_H

#include <stdbool.h>

void events_pause(void);
void events_resume(void);
void events_close(void);

/* Switches sampling on or off in all threads (hpctoolkit_sampling_start, ..._stop). */
void process_set_sampling(bool on);

#endif
