/* Normal context: who interrupted a system call.
 *
 * Ours and the program's handlers are counted per thread. A call that was cut short is gone on with
 * when ours ran during it and none of the program's did. */
#ifndef HPCRUN_RESTART_INTERRUPTIONS_H
#define HPCRUN_RESTART_INTERRUPTIONS_H

#include "hpcrun/thread/thread.h"

/* The handlers that had run when a call began. */
struct interruptions {
    unsigned samples, program;
};

static inline struct interruptions interruptions_now(void)
{
    return (struct interruptions){thread_samples_handled, thread_program_handlers};
}

/* Whether a call that began then was cut short by our samples alone; moves on to the next attempt.
 */
static inline bool only_ours(bool interrupted, struct interruptions *before)
{
    struct interruptions now = interruptions_now();
    bool ours = interrupted && now.samples != before->samples && now.program == before->program;
    *before = now;
    return ours;
}

#endif
