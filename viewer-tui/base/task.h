/* How far a pass over much data is, for the user to see and to stop.
 *
 *     progress_begin("reading all calling contexts", n);
 *     for (i = 0; i < n && progress_at(i); i++)
 *         ...;
 *     if (!progress_end())
 *         the user has stopped it: give up what there is of it
 *
 * Whoever shows it (the terminal) hears of passes that take longer than PROGRESS_PERIOD, at most
 * once in each; without a listener nothing is said, and nothing stops. A pass within another one is
 * a part of it: the user hears of the outer one, and stops both. One thread. */
#ifndef VIEWER_PROGRESS_H
#define VIEWER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_PERIOD 0.1 /* seconds */

/* Tells the user; false when the user wants to stop. `percent` is -1 where the end is not known. */
typedef bool progress_listener(const char *what, int percent);

/* Who hears from now on; NULL for nobody. */
void progress_listen(progress_listener *listener);

/* A pass of `total` steps begins; 0 if nobody knows how many. `what` must outlive it. */
void progress_begin(const char *what, uint64_t total);

/* So many steps are done; call it often: it is cheap. False when the user wants to stop; who cannot
 * stop may ignore that. */
bool progress_at(uint64_t done);

/* The pass has ended; false when it was stopped. */
bool progress_end(void);

#endif
