/* Procedures: owners of code (hpcstruct/code-map.h), with the parts that compilers split off joined
 * to the functions that they belong to.
 *
 * A part belongs to a function when the debug information says so, or when nobody calls it and it
 * is named as the function's cold part, or is unnamed and its frame or the jumps between the two
 * show that it continues the function (so it is in stripped binaries). */
#ifndef HPCSTRUCT_PROCEDURES_H
#define HPCSTRUCT_PROCEDURES_H

#include "hpcstruct/code/decode.h"

struct procedure {
    uint64_t entry;
    const char *name;                        /* linkage name, NULL: none */
    uint32_t first_fragment, fragment_count; /* range of struct procedures .fragments */
};

struct procedures {
    VEC(struct procedure) all; /* sorted by entry */
    VEC(uint32_t) fragments;   /* indices in the code map; those of a procedure are sorted */
    VEC(uint32_t) of_owner;    /* owner -> procedure */
};

/* Says that two addresses belong to one function whose entry is the second. */
struct code_link {
    uint64_t part, entry;
};

struct procedure_sources {
    const struct code_map *map;
    const struct flows *flows; /* per fragment */
    const struct elf_image *image;
    const struct frame_entries *frames;
    const struct code_link *links; /* from debug information */
    size_t link_count;
};

void procedures_build(struct procedures *procedures, const struct procedure_sources *sources);

void procedures_free(struct procedures *procedures);

/* The procedure that an address lies in (an index), or UINT32_MAX. */
uint32_t procedures_find(const struct procedures *procedures, const struct code_map *map,
                         uint64_t address);

#endif
