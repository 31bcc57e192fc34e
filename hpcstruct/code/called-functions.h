/* Functions that only calls reveal: call targets in the middle of gaps, which are code that neither symbols
 * nor frame description entries cover. */
#ifndef HPCSTRUCT_CALLED_FUNCTIONS_H
#define HPCSTRUCT_CALLED_FUNCTIONS_H

#include "hpcstruct/code/decode.h"
#include "hpcstruct/elf/sorted-addresses.h"

/* Adds the targets of all direct calls of a module that lie in the middle of a gap: sorted, each once. The
 * flows of all fragments but the gaps are known. A gap may hold a whole program: it is read in
 * pieces, by several workers, and nothing of it is kept. */
void called_functions_find(struct address_list *called, const struct code_map *map,
                           const struct fragment_flow *flows, unsigned workers);

#endif
