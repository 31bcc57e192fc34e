/* The phase of a run in which a finding is concentrated: "93 % of the idleness is in phase 2 of 4 (1.2 to 3.4 s):
 * assemble, 1.0 threads at work; 38 % idle there, 3 % elsewhere."
 *
 * A phase is named if it has most of what the finding is about (MOST_OF_IT), if its share there is high (judgement.h)
 * and elsewhere is less than half of that, by the ends of 95 % intervals, and if it is not nearly the whole run. */
#ifndef VIEWER_FINDING_PHASE_H
#define VIEWER_FINDING_PHASE_H

#include "viewer-tui/advice/advice.h"
#include "viewer-tui/advice/run-phases.h"

#define MOST_OF_IT       0.80
#define NEARLY_WHOLE_RUN 0.90

/* Names the phases of findings about the whole run, in their texts, too. The phases are those of the time line. */
void findings_name_phases(struct advice *advice, const struct phases *phases, const struct timeline *timeline);

#endif
