/* Normal context, once per process image, before the first thread is created. */
#ifndef HPCRUN_HOOKS_HOOK_INIT_H
#define HPCRUN_HOOKS_HOOK_INIT_H

/* Registers what has no function to hook: fork handlers and the exit of the process (fork-exit.c),
 * the end of threads (thread-hooks.c). */
void hook_process_init(void);
void hook_threads_init(void);

#endif
