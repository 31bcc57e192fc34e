/* Which units of a file with DWARF are read: all, or those with code that is wanted. */
#ifndef HPCSTRUCT_WANTED_UNITS_H
#define HPCSTRUCT_WANTED_UNITS_H

#include "hpcstruct/dwarf/dwarf-source.h"
#include "hpcstruct/elf/code-ranges.h"

/* What is read of a unit. */
enum unit_part {
    UNIT_UNREAD,
    UNIT_NAMES, /* files, and names that functions of other units have from it */
    UNIT_WHOLE,
};

/* UNIT_WHOLE for the units of a source whose code overlaps `wanted`, which is NULL if all are wanted;
 * else UNIT_UNREAD. Compilers say in the first entry of a unit where its code is; a unit that does not
 * say may have any. The caller frees the array. */
uint8_t *wanted_units_find(const struct dwarf_source *source, const struct code_ranges *wanted);

#endif
