/* Signal handler: everything here may be used there; also in the child of a vfork.
 *
 * Lines that this process appends to the list of processes in the measurement directory
 * (lib/process-list.h): its begin, its end, a program that it starts and that can't be measured,
 * the end of a child. Each line is one write; a write that fails is ignored. errno stays as it is.
 */
#ifndef HPCRUN_PROCESS_PROCESS_NOTES_H
#define HPCRUN_PROCESS_PROCESS_NOTES_H

#include "lib/process-list.h"

/* The process image has begun. */
void note_begin(void);

/* The process image ends, or an exec is about to replace it. `detail`: as in process_end. */
void note_end(enum process_state state, int detail, const struct image_counts *counts);

/* A program that can't be measured is about to run, as process `pid`; 0: not known. */
void note_unmeasured(int pid, enum unmeasured why, const char *program);

/* The calling process's exec failed. */
void note_exec_failed(void);

/* Child `pid` has ended, killed by `signal` if that is not 0. */
void note_child_end(int pid, int signal);

#endif
