/* Calls and jumps between owners (code-map.h): the evidence for which of them are parts of others
 * (procedures.h). */
#ifndef HPCSTRUCT_CROSS_JUMPS_H
#define HPCSTRUCT_CROSS_JUMPS_H

#include "hpcstruct/code/decode.h"

#include <stdatomic.h>

/* A jump, or the unwinding to a landing pad, from the code of one owner to that of another. */
struct cross_jump {
    uint32_t part, other; /* owners; `part` may be a part of `other` */
    bool inward;          /* into the part; else out of it */
    bool to_middle;       /* its target is not the first address of an owner */
};

struct cross_jumps {
    VEC(struct cross_jump) all;
    atomic_bool *called; /* per owner: a call goes to its first address */
};

struct flow_sources {
    const struct code_map *map;
    const struct fragment_flow *flows; /* per fragment */
    const struct elf_image *image;
    const struct frame_entries *frames;
};

void cross_jumps_find(struct cross_jumps *cross_jumps, const struct flow_sources *sources,
                      unsigned workers);

void cross_jumps_free(struct cross_jumps *cross_jumps);

/* Whether an owner may be a part of another one. */
bool owner_may_be_part(const struct code_owner *owner);

/* The owner of an address, or UINT32_MAX. */
uint32_t code_map_owner(const struct code_map *map, uint64_t address);

#endif
