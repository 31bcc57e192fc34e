/* Signal handler: everything here runs in the sampling handler.
 *
 * Steps from a frame that perhaps goes on in another one (resume.h). */
#ifndef HPCRUN_UNWIND_RESUME_STEP_H
#define HPCRUN_UNWIND_RESUME_STEP_H

#include "hpcrun/unwind/frame.h"

/* From a frame that has RULE_RESUMING to its caller, or to the frame that it goes on in; sets
 * frame->link. False where it can't be told which it is, and where unwinding on would need a
 * register that may be the other's. In a guarded region. */
bool resume_step(struct memory *memory, struct rule_cache *cache, struct rule rule,
                 struct frame *frame, struct frame *caller);

#endif
