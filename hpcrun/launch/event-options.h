/* Converts the events on the command line to the configuration of the library, and lists events. */
#ifndef HPCRUN_LAUNCH_EVENT_OPTIONS_H
#define HPCRUN_LAUNCH_EVENT_OPTIONS_H

#include "hpcrun/launch/options.h"

/* Fills in config->events. Ends the process with a message if an event can't be used here. */
void events_configure(const struct options *options, struct config *config);

/* Prints the limitations of the events on this machine, one line each. */
void events_explain(const struct config *config);

/* Lists events on standard output: those that can be used here; then the number of others by
 * reason, or with `all` each of them with its reason. Returns the exit status. */
int events_list(bool all);

#endif
