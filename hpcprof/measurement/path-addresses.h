/* The addresses that call paths go through: the code whose structure matters. */
#ifndef HPCPROF_PATH_ADDRESSES_H
#define HPCPROF_PATH_ADDRESSES_H

#include "hpcprof/measurement/measurements.h"
#include "hpcprof/modules/module-addresses.h"

/* Finds, for each load module, the addresses of all notes, of start routines and of joins; on all ranks of
 * a team the same. */
void path_addresses_find(struct module_addresses *addresses,
                         const struct measurements *measurements, unsigned workers);

#endif
