/* Signal handler: code_map_find runs in the sampling handler; lock-free.
 *
 * Which load module covers an address, and where its .eh_frame_hdr is. The answer comes from the
 * dynamic loader's own table (_dl_find_object, glibc >= 2.35), so nothing is built and nothing can
 * be stale. With an older glibc it comes from a sorted table made by dl_iterate_phdr, which must be
 * refreshed in normal context whenever the set of modules may have changed. */
#ifndef HPCRUN_CODE_MODULE_RANGES_H
#define HPCRUN_CODE_MODULE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

struct code_range {
    uint64_t start, end;         /* of the module's mapping */
    uint64_t bias;               /* run-time address - ELF virtual address */
    const char *name;            /* of the link map, or NULL; valid while the module stays loaded */
    const uint8_t *eh_frame_hdr; /* NULL: none */
};

/* Fills `range` with the module that covers `address`; false when none does. */
bool code_map_find(uint64_t address, struct code_range *range);

/* Normal context, from one thread at a time, with no handler in flight that began before the
 * previous refresh. Does nothing where the loader has its own table. */
void code_map_refresh(void);

/* For tests: use the table of dl_iterate_phdr even where the loader has its own. */
void code_map_use_own_table(bool use);

#endif
