/* Signal handler: everything here may be used there; also in the child of a vfork.
 *
 * What this process adds to the list of processes in the measurement directory
 * (lib/process-list.h): it begins, it ends, it starts a program that can't be measured, it has seen
 * a child end. One line each, one write; nothing where that fails. errno stays. */
#ifndef HPCRUN_PROCESS_PROCESS_NOTES_H
#define HPCRUN_PROCESS_PROCESS_NOTES_H

#include "lib/process-list.h"

/* The image has begun. */
void note_begin(void);

/* The image ends, or is to be replaced by an exec. */
void note_end(enum process_state state, int detail, const struct image_counts *counts);

/* A program that can't be measured is to run as process `pid`, 0 if that is not known. */
void note_unmeasured(int pid, enum unmeasured why, const char *program);

/* The calling process's exec failed. */
void note_exec_failed(void);

/* Child `pid` has ended, by this signal if it is not 0. */
void note_child_end(int pid, int signal);

#endif
