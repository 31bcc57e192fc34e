/* Thread creation and end; hooks/threads.c. */
#ifndef HPCRUN_HOOKS_THREADS_H
#define HPCRUN_HOOKS_THREADS_H

/* Normal context, once per process image, before the first thread is created. */
void hook_threads_init(void);

#endif
