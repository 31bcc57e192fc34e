/* The code of a module, divided into fragments. Each fragment belongs to one owner: a function, a
 * part that the compiler split off from a function, or a stub.
 *
 * Owners come from function symbols, from the stubs of the procedure linkage table, and from frame
 * description entries; in code that these do not cover, from labels, from call targets, and from
 * everything else that is not padding. If owners overlap, an address belongs to the one that begins
 * last, so that fragments are disjoint. */
#ifndef HPCSTRUCT_CODE_MAP_H
#define HPCSTRUCT_CODE_MAP_H

#include "hpcstruct/elf/code-symbols.h"
#include "hpcstruct/elf/dynamic-linking.h"
#include "hpcstruct/elf/eh-frame.h"

struct code_owner {
    uint64_t begin;
    const char *name;         /* linkage name; NULL: unknown. Belongs to a symbol or stub */
    uint32_t first_fragment;  /* index of its lowest fragment */
    bool has_frame;           /* a frame description entry begins at `begin` */
    bool begins_mid_function; /* see struct frame_entry */
    bool is_stub;             /* of the procedure linkage table */
    bool is_gap;              /* code that neither symbols nor frame description entries cover */
};

struct code_fragment {
    uint64_t begin, end;
    const uint8_t *bytes;
    uint32_t owner;
};

struct code_map {
    VEC(struct code_owner) owners;       /* sorted by begin; each has a fragment */
    VEC(struct code_fragment) fragments; /* sorted, disjoint */
    /* For code_map_find: the code from the first fragment on, in pieces of 2^piece_bits bytes. Per
     * start of a piece, and for the end: the last fragment that begins at or before it. */
    VEC(uint32_t) pieces;
    unsigned piece_bits;
};

/* Input of code_map_build. It must outlive the map, which points to its names. */
struct code_sources {
    const struct elf_image *image;
    const struct symbol_table *symbols;
    const struct frame_entries *frames;
    const struct plt_stubs *stubs;
    const uint64_t *called; /* call targets: they begin functions in uncovered code. Sorted */
    size_t called_count;
};

void code_map_build(struct code_map *map, const struct code_sources *sources, unsigned workers);

void code_map_free(struct code_map *map);

/* The index of the fragment that contains an address, or UINT32_MAX. */
uint32_t code_map_find(const struct code_map *map, uint64_t address);

/* The number of bytes of padding (no-operations, int3, zeros) at the start of some code. */
size_t padding_length(const uint8_t *bytes, size_t size);

#endif
