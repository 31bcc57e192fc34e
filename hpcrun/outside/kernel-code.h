/* The kernel's code in the call paths of the measured process, and the names of its procedures. */
#ifndef HPCRUN_OUTSIDE_KERNEL_CODE_H
#define HPCRUN_OUTSIDE_KERNEL_CODE_H

#include "hpcrun/tree/cct.h"

/* After modules_init. */
void kernel_code_init(void);

/* Remembers what of the kernel a thread's tree has. */
void kernel_code_add(const struct cct *cct);

/* Saves the names of what was remembered in the measurement directory. Reads /proc/kallsyms, which takes the kernel
 * 50 ms, only if there is something. Without them the code is shown without names, which a line says. */
void kernel_code_save(void);

#endif
