/* The command line of the process image as it began. A program may write over its own, to change
 * what ps shows, or leave pointers in it that lead nowhere. */
#ifndef HPCRUN_PROCESS_ARGUMENTS_H
#define HPCRUN_PROCESS_ARGUMENTS_H

#include <stddef.h>

/* Of so many arguments, so many bytes are kept. */
#define MAX_ARGUMENTS     64
#define MAX_ARGUMENT_SIZE 1024

/* Keeps the arguments, up to a NULL. Once, before the program begins. */
void arguments_keep(char *const *arguments);

/* What was kept, up to a NULL. */
const char *const *arguments_kept(void);

#endif
