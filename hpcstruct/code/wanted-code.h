/* The code that matters for the procedures at some addresses: those of samples, for instance. */
#ifndef HPCSTRUCT_WANTED_CODE_H
#define HPCSTRUCT_WANTED_CODE_H

#include "hpcstruct/code/cross-jumps.h"
#include "hpcstruct/elf/code-ranges.h"

/* Adds the code of all owners that may be in one procedure with an owner of one of the addresses: those
 * that cross jumps connect with it. Whatever debug information links (procedures.h) is linked by that of
 * this code. */
void wanted_code_find(struct code_ranges *wanted, const struct address_list *addresses,
                      const struct code_map *map, const struct cross_jumps *cross_jumps);

#endif
