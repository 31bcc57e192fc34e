/* An index of .eh_frame for a module that has none: statically linked programs lack .eh_frame_hdr. It has
 * the format of .eh_frame_hdr, so that unwind/cfi.h searches both alike. */
#ifndef HPCRUN_OUTSIDE_EH_FRAME_INDEX_H
#define HPCRUN_OUTSIDE_EH_FRAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* A copy of a section; the program has it at `address`. */
struct eh_frame_copy {
    const uint8_t *at;
    size_t size;
    uint64_t address;
};

/* Makes the index of some sections. Returns the index, of *bytes, at an address within 2 GB after `near`, the
 * end of the module; NULL if there is nothing to index, or no room there. The caller unmaps it. */
const uint8_t *eh_frame_index(const struct eh_frame_copy *sections, unsigned count, uint64_t near,
                              size_t *bytes);

/* Memory within 2 GB after `near`, where nothing is; NULL: no room. */
uint8_t *map_near(uint64_t near, size_t size);

#endif
