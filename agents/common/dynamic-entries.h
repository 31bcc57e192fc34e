/* Entries of the dynamic sections of loaded modules. Normal context. */
#ifndef AGENTS_DYNAMIC_ENTRIES_H
#define AGENTS_DYNAMIC_ENTRIES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Address of a dynamic entry of a loaded module; 0: none. glibc relocates some entries, but not
 * DT_VERDEF. */
uint64_t dynamic_entry(const struct link_map *map, int64_t tag);

/* Whether the main program itself is linked to a library whose name begins so. */
bool program_needs(const char *library);

#endif
