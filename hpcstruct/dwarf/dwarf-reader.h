/* Reads DWARF (2 to 5) into a struct debug_info: line tables, functions, and the functions inlined
 * into them. Several threads read line tables and units; the result is the same for any number. */
#ifndef HPCSTRUCT_DWARF_READER_H
#define HPCSTRUCT_DWARF_READER_H

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/dwarf/split-units.h"
#include "hpcstruct/elf/code-ranges.h"

struct dwarf_inputs {
    const struct elf_image *image; /* the binary with the code */
    const struct elf_image *debug; /* the file with the debug information: `image` or another */
    const struct elf_image *supplement; /* the file with the parts that dwz moved; NULL: none */
    const struct split_debug *split;    /* the .dwo and .dwp files; NULL: none */
    const struct code_ranges *wanted;   /* code that all is read of; NULL: all code */
};

/* Reads the debug information into an empty `info` and finishes it. `info` then holds all that could
 * be read of the units with wanted code, and of those that they refer to. The contents of the debug
 * sections are no longer in memory. Returns the first thing that could not be read, one line, which the
 * caller frees; NULL: none. */
char *dwarf_read(struct debug_info *info, const struct dwarf_inputs *inputs, unsigned workers);

/* Whether a file has debug information. */
bool dwarf_is_in(const struct elf_image *image);

/* Whether its debug information names source files that are tags of overhead (lib/source-names.h). */
bool dwarf_has_tags(const struct elf_image *image);

#endif
