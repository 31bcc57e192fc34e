/* Normal context: fills in `process` (process.h). */
#ifndef HPCRUN_PROCESS_IDENTITY_H
#define HPCRUN_PROCESS_IDENTITY_H

#include "hpcrun/base/text-buffer.h"

/* Ids, start time and clocks: they are new for every process, also for the child of a fork. */
void identify_process(void);

void identify_host(void);

/* Appends the host's name up to the first dot; '/' and '-' become '_'. Any context. */
void identity_add_host(struct text *text);

/* 1 + the largest error of the host's wall clock according to the kernel, us: the error that an NTP or PTP daemon found, and
 * what has been added since; 16 s without a daemon. 0: unknown. */
uint64_t clock_error(void);

/* The number of CPUs that a thread may use, at least 1. `tid` 0: the calling thread. */
unsigned usable_cpus(int tid);

/* Executable, working directory, rank, CPUs. After identify_process. */
void identify_program(char *const *environment);

/* Copies the command line, a NULL-terminated array, before the program begins. A program may
 * overwrite its own later, to change what ps shows, or leave dangling pointers in it. Only the
 * first MAX_ARGUMENTS arguments are copied, and the first MAX_ARGUMENT_SIZE bytes of each. */
#define MAX_ARGUMENTS     64
#define MAX_ARGUMENT_SIZE 1024
void identify_arguments(char *const *arguments);

/* The copy, NULL-terminated. */
const char *const *process_arguments(void);

/* Sets process.filters_are_harmless: whether the filters of system calls are those that the launcher
 * has tried out. */
void identify_filters(void);

#endif
