/* Signal handler: module_range_find runs in the sampling handler; lock-free.
 *
 * The load module that covers an address, and its .eh_frame_hdr. glibc >= 2.35 answers from the
 * loader's own table (_dl_find_object), which is never stale. With an older glibc we keep a sorted
 * table, filled by dl_iterate_phdr; it must be refreshed in normal context whenever the set of
 * modules may have changed. */
#ifndef HPCRUN_CODE_MODULE_RANGES_H
#define HPCRUN_CODE_MODULE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

struct module_range {
    uint64_t start, end;         /* addresses of the module's mapping */
    uint64_t bias;               /* run-time address - ELF virtual address */
    const char *name;            /* link map's path, or NULL; valid while the module is loaded */
    const uint8_t *eh_frame_hdr; /* NULL: none */
};

/* Fills `range` with the module that covers `address`; false when none does. Reads what the loader
 * keeps of the module, which a dlclose in another thread may free: call it in a guarded region, unless
 * the module stays loaded. */
bool module_range_find(uint64_t address, struct module_range *range);

/* Any context. The addresses of the mapping of that module. */
bool module_range_bounds(uint64_t address, uint64_t *start, uint64_t *end);

/* Normal context, when no handler still runs that began before the previous refresh. Does nothing if
 * the loader has its own table. */
void module_ranges_refresh(void);

/* For tests: uses our table even if the loader has its own. */
void module_ranges_use_own_table(bool use);

#endif
