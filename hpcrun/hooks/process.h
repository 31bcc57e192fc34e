/* Creation, replacement and end of processes; hooks/process.c. */
#ifndef HPCRUN_HOOKS_PROCESS_H
#define HPCRUN_HOOKS_PROCESS_H

/* Normal context, once per process image. */
void hook_process_init(void);

#endif
