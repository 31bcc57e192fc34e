/* The structure of the kernel: procedures without files, lines and loops, by the names that hpcrun saved with the
 * measurements (lib/kernel-symbols.h). hpcstruct is not asked. */
#ifndef HPCPROF_KERNEL_STRUCTURE_H
#define HPCPROF_KERNEL_STRUCTURE_H

#include "hpcprof/modules/structure.h"

/* Directories of measurements, where the names are. */
struct measurement_directories {
    char *const *at;
    size_t n;
};

/* The procedures that contain one of the addresses, offsets in the kernel of that boot. NULL if no name was saved for
 * them. */
struct structure *kernel_structure(const struct measurement_directories *directories, uint64_t boot,
                                   const struct address_set *addresses);

#endif
