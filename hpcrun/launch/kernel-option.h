/* hpcrun --kernel: samples in the kernel have its frames. */
#ifndef HPCRUN_LAUNCH_KERNEL_OPTION_H
#define HPCRUN_LAUNCH_KERNEL_OPTION_H

#include "hpcrun/launch/measurement-directory.h"
#include "hpcrun/launch/options.h"

/* Asks for the frames in the events that can have them. Prints why there are none, or why they have no names, and what
 * would allow it. */
void kernel_option_apply(struct config *config);

/* Saves the names of the kernel's procedures in the measurement directory, unless an earlier rank has saved them all. */
void kernel_option_save_names(const struct measurement_directory *directory, bool shared);

#endif
