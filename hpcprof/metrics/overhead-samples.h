/* Which samples are parallel overhead, and of which kind: time in the runtime's own code, found
 * after the run and at no cost during it (Tallent and Mellor-Crummey, PPoPP 2009, section 5.2).
 *
 * Of each sampled call path the physical frames are looked at from the leaf outwards, up to the
 * innermost frame of the user's code. The sample is overhead if one of these frames, that one
 * included, is at an address that is tagged (doc/FORMAT-structure.md, attribute `o`) or in a
 * procedure that a rule calls overhead (hpcprof/runtime/rules.h), or is a frame that an agent has no l-note
 * for: the scheduler's. A frame of the C library, or of a stub that
 * calls it, belongs to whoever called it, so the walk goes on. What is overhead is paid, at the
 * same place, into a metric of its own.
 *
 * Its kind is that of the innermost of these tags and rules; at one address the tag counts. Where
 * there is none, or it names no kind, the kind is "other". */
#ifndef HPCPROF_OVERHEAD_SAMPLES_H
#define HPCPROF_OVERHEAD_SAMPLES_H

#include "hpcprof/measurement/measurements.h"

#define NOT_OVERHEAD UINT32_MAX

/* Whether overhead can be told from work: an agent knew the runtime (it has counted workers), or
 * some code is tagged or overhead by a rule. Sets inputs->overhead_bound where a process with a
 * runtime has no tagged code: what no rule knows of the runtime's code in the user's procedures
 * then counts as their work. After runtime_code_find. */
bool overhead_measurable(struct inputs *inputs);

/* Fills inputs->overhead_kinds, unless no tag names a kind: the kinds of all modules, sorted, and
 * "other" behind them. After runtime_code_find. */
void overhead_find_kinds(struct inputs *inputs);

/* Sets marks[i], for each node i of a thread, to the kind in inputs->overhead_kinds of a sample
 * there, which means nothing where these are none, or to NOT_OVERHEAD. `marks` has room for all
 * nodes. */
void overhead_mark(const struct inputs *inputs, const struct input *input,
                   const struct measurement_thread *thread, uint32_t *marks);

#endif
