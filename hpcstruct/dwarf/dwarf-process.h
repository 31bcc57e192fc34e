/* Reads DWARF (2 to 5) into a struct debug_info. The only place that knows libdwarf; another
 * reader could stand in for it.
 *
 * Damaged information costs what is damaged: what could be read is in `info`. */
#ifndef HPCSTRUCT_DWARF_PROCESS_H
#define HPCSTRUCT_DWARF_PROCESS_H

#include "hpcstruct/dwarf/debug-info.h"

struct dwarf_report {
    char *problem; /* the first thing that could not be read, one line; NULL: none. Owned */
    bool is_split; /* inlined functions are described in .dwo files, which are not read */
};

struct dwarf_files {
    const struct elf_image *image;      /* the binary with the code */
    const struct elf_image *from;       /* what has the debug information: it or its debug file */
    const struct elf_image *supplement; /* what dwz moved shared parts to, or NULL */
};

/* Reads the debug information into an empty `info`, and finishes it. Not while there are other
 * threads: it forks. */
struct dwarf_report dwarf_read(struct debug_info *info, const struct dwarf_files *files);

/* Whether a file has debug information. */
bool dwarf_is_in(const struct elf_image *image);

#endif
