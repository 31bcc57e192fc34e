/* The load modules of the measured process. Implements code/module-ranges.h, as hpcrun/code does by the
 * loader's table for this process. */
#ifndef HPCRUN_OUTSIDE_FOREIGN_MODULES_H
#define HPCRUN_OUTSIDE_FOREIGN_MODULES_H

#include "hpcrun/outside/module-image.h"

/* A new executable mapping. Modules that lay there are gone. */
void foreign_modules_add(const struct mapping *mapping);

/* Whether a mapping is of a module, and not of memory for generated code. */
bool mapping_is_module(const struct mapping *mapping);

/* Calls `visit` for each module. */
void foreign_modules_visit(void (*visit)(const struct module_image *image));

/* The number of mapped files that could not be placed, but for memory of memfd_create and its like. */
unsigned foreign_modules_missing(void);

#endif
