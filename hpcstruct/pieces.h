/* A procedure's code cut into pieces: runs of addresses in one block that have one source line and
 * one chain of inlined functions. They cover every address of the procedure once. */
#ifndef HPCSTRUCT_PIECES_H
#define HPCSTRUCT_PIECES_H

#include "hpcstruct/inline-chains.h"
#include "hpcstruct/loops.h"

struct piece {
    uint64_t begin, end;
    uint32_t loop;  /* innermost one around its block, or NO_LOOP */
    uint32_t chain; /* in chains */
    uint32_t file;  /* in debug_info.files, or DEBUG_NONE */
    uint32_t line;  /* 0: unknown */
};

struct pieces {
    VEC(struct piece) all; /* sorted */
};

/* Cuts the blocks of `cfg`; the chains (reset before) grow as needed. */
void pieces_cut(struct pieces *pieces, const struct cfg *cfg, const struct loops *loops,
                const struct debug_info *info, struct chains *chains);

/* The piece that an address of the procedure lies in. */
const struct piece *pieces_at(const struct pieces *pieces, uint64_t address);

#endif
