/* Normal context.
 *
 * Handlers of the program whose runtime asks the kernel for the thread's signal stack, by a bare system
 * call. It then finds ours (thread/signal-stack.h) and takes it for its own: the handlers must run
 * there. Go does so in programs that use C (runtime.minitSignalStack); its actions it sets through
 * libc. */
#ifndef HPCRUN_HOOKS_KERNEL_STACK_USERS_H
#define HPCRUN_HOOKS_KERNEL_STACK_USERS_H

#include <stdbool.h>

/* Whether a handler is one of these: its module has a note of Go's linker. The answer is kept until a
 * module is unloaded. No two threads may ask at once. */
bool uses_kernel_stack(const void *handler);

#endif
