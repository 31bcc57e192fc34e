/* Runs the DWARF reader (dwarf-reader.h) in a process of its own. On damaged files libdwarf
 * 20210528 frees memory twice, reads out of bounds and loops forever; this way that costs the debug
 * information only. */
#ifndef HPCSTRUCT_DWARF_PROCESS_H
#define HPCSTRUCT_DWARF_PROCESS_H

#include "hpcstruct/dwarf/dwarf-reader.h"

/* Reads the debug information into an empty `info` and finishes it; if the process fails, only the
 * line tables. Forks: call it while there is one thread. */
struct dwarf_report dwarf_read(struct debug_info *info, const struct dwarf_inputs *inputs);

#endif
