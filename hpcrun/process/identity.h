/* Normal context: finds out who this process is, for `process`. */
#ifndef HPCRUN_PROCESS_IDENTITY_H
#define HPCRUN_PROCESS_IDENTITY_H

#include "hpcrun/base/text.h"

/* Its numbers and clocks: what is new for every process, also for the child of a fork. */
void identify_process(void);

void identify_host(void);

/* The host's name up to the first dot, in characters that suit a file name. Any context. */
void identity_add_host(struct text *text);

/* What it executes, and where. After identify_process. */
void identify_program(char *const *environment);

#endif
