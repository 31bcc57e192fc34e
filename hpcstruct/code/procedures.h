/* Procedures: functions (owners in code-map.h) joined with the parts that compilers split off from
 * them.
 *
 * An owner is a part of a function if no call goes to it and one of these holds:
 * 1. The debug information says so.
 * 2. It is named as the cold part of the function, or as a cold part that only the function enters.
 * 3. It has no name (as in stripped binaries), and its frame or the jumps between the two show that
 * it continues the function. */
#ifndef HPCSTRUCT_PROCEDURES_H
#define HPCSTRUCT_PROCEDURES_H

#include "hpcstruct/code/cross-jumps.h"

struct procedure {
    uint64_t entry;
    const char *name;                        /* linkage name, or that of a function that only jumps here; NULL: none */
    uint32_t first_fragment, fragment_count; /* range of struct procedures .fragments */
};

struct procedures {
    VEC(struct procedure) all; /* sorted by entry */
    VEC(uint32_t) fragments;   /* indices in the code map; those of a procedure are sorted */
    VEC(uint32_t) of_owner;    /* owner -> procedure */
};

/* Two addresses of one function: a part, and the entry of the function. */
struct code_link {
    uint64_t part, entry;
};

/* The links come from debug information. Sorts the cross jumps. */
void procedures_build(struct procedures *procedures, const struct code_map *map,
                      struct cross_jumps *cross_jumps, const struct code_link *links,
                      size_t link_count);

void procedures_free(struct procedures *procedures);

/* The index of the procedure that contains an address, or UINT32_MAX. */
uint32_t procedures_find(const struct procedures *procedures, const struct code_map *map,
                         uint64_t address);

#endif
