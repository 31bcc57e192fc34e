/* Instructions by which code waits: `pause`, which compilers emit for the hints of spin loops
 * (_mm_pause, cpu_relax), and system calls that may block. Names do not show waiting in stripped
 * runtimes, these instructions do. */
#ifndef HPCSTRUCT_WAIT_CODE_H
#define HPCSTRUCT_WAIT_CODE_H

#include "hpcstruct/decode.h"

/* Whether the last of the decoder's instructions so far, a `syscall`, may be one that waits for a
 * futex: the code before it, back to where control may come from elsewhere or
 * MOST_ARGUMENT_INSTRUCTIONS, prepares a fourth argument (r10). Of the calls that runtimes make
 * themselves FUTEX_WAIT has one, the timeout, and FUTEX_WAKE has not. */
#define MOST_ARGUMENT_INSTRUCTIONS 12
bool waits_in_system_call(const struct decoder *decoder, const struct code_fragment *fragment);

#endif
