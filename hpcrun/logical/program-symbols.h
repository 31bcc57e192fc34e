/* The file of the program that this process executes. Normal context. */
#ifndef HPCRUN_LOGICAL_PROGRAM_SYMBOLS_H
#define HPCRUN_LOGICAL_PROGRAM_SYMBOLS_H

#include <stdbool.h>

/* Whether the file's symbol tables may have a symbol of this name: false is sure, where the file
 * can be read; true may also be said of one that is not defined in it. */
bool program_has_symbol(const char *name);

#endif
