/* The code of a module, cut into fragments that belong to one owner each: a function, a part that
 * the compiler split off from one, a stub.
 *
 * Owners come from function symbols, stubs of the procedure linkage table, frame description
 * entries, and, for what they leave uncovered, from labels, from addresses that are called, and
 * from whatever else holds more than padding. Where they overlap, the one that begins last owns
 * the address, so that fragments are disjoint. */
#ifndef HPCSTRUCT_CODE_MAP_H
#define HPCSTRUCT_CODE_MAP_H

#include "hpcstruct/elf/code-symbols.h"
#include "hpcstruct/elf/dynamic-linking.h"
#include "hpcstruct/elf/eh-frame.h"

struct code_owner {
    uint64_t begin;
    const char *name;        /* linkage name; NULL: none is known. Of a symbol or stub */
    uint32_t first_fragment; /* index of its lowest fragment */
    bool has_frame;          /* a frame description entry begins at begin */
    bool begins_mid_function;      /* see struct frame_entry */
    bool is_stub;            /* of the procedure linkage table */
    bool is_gap;             /* nothing but uncovered code */
};

struct code_fragment {
    uint64_t begin, end;
    const uint8_t *bytes;
    uint32_t owner;
};

struct code_map {
    VEC(struct code_owner) owners;       /* sorted by begin; each has a fragment */
    VEC(struct code_fragment) fragments; /* sorted, disjoint */
};

/* What the map is made from; nothing is changed, names are referred to. */
struct code_sources {
    const struct elf_image *image;
    const struct symbol_table *symbols;
    const struct frame_entries *frames;
    const struct plt_stubs *stubs;
    const uint64_t *called; /* addresses that begin functions where nothing else is known; sorted */
    size_t called_count;
};

void code_map_build(struct code_map *map, const struct code_sources *sources);

void code_map_free(struct code_map *map);

/* The fragment that an address lies in, an index, or UINT32_MAX. */
uint32_t code_map_find(const struct code_map *map, uint64_t address);

/* The number of bytes of padding (no-operations, int3, zeroes) at the start of some code. */
size_t padding_length(const uint8_t *bytes, size_t size);

#endif
