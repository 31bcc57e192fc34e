/* The kernel's code in the call paths of the measured process, and the names of its procedures. */
#ifndef HPCRUN_OUTSIDE_KERNEL_CODE_H
#define HPCRUN_OUTSIDE_KERNEL_CODE_H

#include "hpcrun/tree/cct.h"

/* Once, before there are workers. */
void kernel_code_init(void);

/* In a worker, after modules_init. If perf hides the kernel, the measurement does not have its module. */
void kernel_code_begin(void);

/* Remembers what of the kernel a thread's tree has, for all workers. */
void kernel_code_add(const struct cct *cct);

/* When all workers have ended: saves the names of what was remembered in the measurement directory. Reads the kernel's
 * symbols for it, which takes 50 ms of CPU time, unless no sample was in the kernel. If they can't be written, one line
 * says so. */
void kernel_code_save(void);

#endif
