/* Which samples are parallel overhead: time in the runtime's own code, found after the run and at
 * no cost during it (Tallent and Mellor-Crummey, PPoPP 2009, section 5.2).
 *
 * Of each sampled call path the physical frames are looked at from the leaf outwards, up to the
 * innermost frame of the user's code. The sample is overhead if one of these frames, that one
 * included, is at an address that is tagged (lib/FORMAT-structure.md, attribute `o`), or is a frame
 * that an agent has no l-note for: the scheduler's. A frame of the C library belongs to whoever
 * called it, so the walk goes on. What is overhead is paid, at the same place, into a metric of its
 * own. */
#ifndef HPCPROF_OVERHEAD_H
#define HPCPROF_OVERHEAD_H

#include "hpcprof/inputs.h"

/* Whether overhead can be told from work: an agent knew the runtime (it has counted
 * workers), or some code is tagged. Once the
 * modules have their structures. */
bool overhead_measurable(const struct inputs *inputs);

/* Sets marks[i], for each node i of a thread, to whether a sample there is overhead. `marks` has
 * room for all nodes. */
void overhead_mark(const struct inputs *inputs, const struct input *input,
                   const struct measurement_thread *thread, bool *marks);

#endif
