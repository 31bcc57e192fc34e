/* Which units of a file with DWARF are read: all, or those with code that is wanted. */
#ifndef HPCSTRUCT_WANTED_UNITS_H
#define HPCSTRUCT_WANTED_UNITS_H

#include "hpcstruct/code/wanted-code.h"
#include "hpcstruct/dwarf/dwarf-source.h"

/* Whether each unit of a source is wanted: its code overlaps `wanted`, which is NULL if all units are.
 * Compilers say in the first entry of a unit where its code is; a unit that does not say may have
 * any. The caller frees the array. */
bool *wanted_units_find(const struct dwarf_source *source, const struct code_ranges *wanted);

#endif
