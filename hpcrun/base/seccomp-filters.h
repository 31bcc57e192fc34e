/* Filters of system calls (seccomp), as containers and service managers install them. */
#ifndef HPCRUN_BASE_SECCOMP_FILTERS_H
#define HPCRUN_BASE_SECCOMP_FILTERS_H

/* Normal context, no libc. How many filters the calling thread has; 0 also if that is not known
 * (kernels before 5.9, no /proc). Opens a file only if there is a filter. */
unsigned seccomp_filters(void);

#endif
