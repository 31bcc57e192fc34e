/* Where a loop stands in the source: in which chain of inlined functions, and at which line.
 *
 * The code of a loop may come from several functions: a loop of an inlined function has all of its
 * code in that function's chain; a loop around an inlined call has its own code in the chain that
 * the call lies in; of a loop over a C++ iterator even the condition may come from an inlined
 * operator. So, for every loop, inner loops first:
 *
 * 1. The candidate is the longest chain common to its conditions (the branches that may leave it,
 *    and the branches back to its header when none leaves it; those in split-off cold code only
 *    when there are no others), to the places of the loops directly
 *    inside of it, and to those of its other pieces of code whose chain neither contains the
 *    candidate nor is contained in it.
 * 2. What is left are strays: pieces whose chain is a part of the candidate, code of a caller of
 *    the function that the candidate ends with. Compilers leave a few, such as the preparation of
 *    arguments: they have the line of the call, and are few. The loop belongs to the outermost
 *    chain of a stray with another line; or of any stray, when strays are more than a quarter of
 *    the bytes that are the loop's own.
 *
 * So a loop contains all its instructions, a loop's chain begins with that of the loop around it,
 * and an inlined call is inside the loop exactly when the loop's control is outside the call.
 *
 * The line is where people see the loop begin. Candidates are its conditions and its branches back,
 * each seen from the loop's chain: one from a function inlined into the loop stands at the line of
 * the call. Of those in the file of the function that the loop belongs to (else of the first one's
 * file), the smallest line counts: the condition of a `for` is on its first line, while conditions
 * that leave early, by break or return, come later. No loop begins behind one that it contains.
 * Lines of tagged files (overhead-tag.h) only count where there are no others. */
#ifndef HPCSTRUCT_LOOP_LOCATION_H
#define HPCSTRUCT_LOOP_LOCATION_H

#include "hpcstruct/structure/source-ranges.h"

struct loop_place {
    uint32_t chain;
    uint32_t file; /* of its line, in debug_info.files, or DEBUG_NONE */
    uint32_t line; /* 0: unknown */
};

/* A block that decides whether a loop goes on. */
struct loop_condition {
    uint32_t loop, block;
    bool leaves; /* may leave the loop; else it only goes back to its header */
};

struct loop_places {
    VEC(struct loop_place) all; /* per loop */
    /* Scratch memory. */
    VEC(struct loop_condition) conditions; /* sorted by loop */
    VEC(uint32_t) first_piece, next_piece; /* per loop; per piece: the next of the same loop */
    VEC(uint32_t) first_child, next_child; /* per loop */
};

/* What is known of the procedure. */
struct loop_context {
    const struct cfg *cfg;
    const struct loops *loops;
    const struct pieces *pieces;
    const struct chains *chains;
    const bool *tagged;      /* per file of the debug information */
    uint32_t procedure_file; /* of its declaration, or DEBUG_NONE */
};

/* Places all loops; the memory of `places` is used again. */
void loops_place(struct loop_places *places, const struct loop_context *context);

void loop_places_free(struct loop_places *places);

#endif
