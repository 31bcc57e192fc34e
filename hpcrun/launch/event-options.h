/* From the events that the user asked for to the configuration of the library. */
#ifndef HPCRUN_LAUNCH_EVENT_OPTIONS_H
#define HPCRUN_LAUNCH_EVENT_OPTIONS_H

#include "hpcrun/launch/options.h"

/* Fills config->events. Ends the process with a message when an event can't be used here. */
void events_configure(const struct options *options, struct config *config);

/* Says what the events will not do well here, one line each. */
void events_explain(const struct config *config);

/* Lists the events on standard output: those that can be used here, then a line that counts the
 * others by reason, or with `all` each of them with its reason. Returns the exit status. */
int events_list(bool all);

#endif
