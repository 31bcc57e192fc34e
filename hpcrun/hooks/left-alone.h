/* Normal context: programs that are not measured, for what they are built with. */
#ifndef HPCRUN_HOOKS_LEFT_ALONE_H
#define HPCRUN_HOOKS_LEFT_ALONE_H

#include <stdbool.h>

bool is_left_alone(void);

/* When the program's libraries are initialised: says so. */
void tell_left_alone(void);

#endif
