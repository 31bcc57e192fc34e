/* The source location of a loop: its chain of inlined calls, its file and its line.
 *
 * The code of a loop may come from several functions. All code of a loop in an inlined function has
 * the chain of that function. A loop around an inlined call has code of its own in the chain of the
 * caller. In a loop over a C++ iterator, even the condition may come from an inlined operator. So
 * the chain of a loop is found in these steps, for inner loops first:
 *
 * 1. The candidate is the longest common prefix of the chains of
 *    - its conditions: the branches that may leave it, or the branches back to its header if none
 * leaves it; those in split-off cold code count only if there are no others;
 *    - the loops directly inside it;
 *    - those of its other ranges whose chain is not a prefix of the candidate.
 * 2. The remaining ranges have a proper prefix of the candidate: they are code of callers of the
 *    candidate's innermost function. Compilers move some of it into the loop, such as the
 * preparation of arguments; it has the line of the call, and is short. If these ranges are more
 * than a quarter of the loop's own bytes, the loop belongs to the outermost of the callers; else to
 * the outermost one that has a range with another line than that of the call, if there is any.
 *
 * So a loop contains all its instructions, its chain begins with that of the loop around it, and an
 * inlined call is inside the loop exactly if the control of the loop is outside the call.
 *
 * The line is where the loop begins in the source. Candidates are the lines of its conditions and
 * of its branches back; one that is inlined into the loop counts as the line of the call. Lines in
 * the file of the loop's function (else in the file of the first candidate) are preferred, then the
 * smallest line: the condition of a `for` is on its first line, and conditions of a break or return
 * come later. A loop begins no later than a loop inside it; if that one begins before the
 * conditions, as in `do { while (a) f(); } while (b)`, it begins at the first line of its header if
 * that is earlier still. Lines of tagged files (overhead-tag.h)
 * count only if there are no others. */
#ifndef HPCSTRUCT_LOOP_LOCATION_H
#define HPCSTRUCT_LOOP_LOCATION_H

#include "hpcstruct/structure/source-ranges.h"

struct loop_location {
    uint32_t chain;
    uint32_t file; /* in debug_info.files, or DEBUG_NONE */
    uint32_t line; /* 0: unknown */
};

/* A block that ends with a condition of a loop. */
struct loop_condition {
    uint32_t loop, block;
    bool leaves; /* its branch may leave the loop; else it goes back to the header */
};

struct loop_locations {
    VEC(struct loop_location) all; /* per loop */
    /* Used by loop_locations_find. */
    VEC(struct loop_condition) conditions; /* sorted by loop */
    VEC(uint32_t) first_range, next_range; /* per loop; per range: the next one of its loop */
    VEC(uint32_t) first_child, next_child; /* per loop */
};

/* The procedure. */
struct loop_context {
    const struct cfg *cfg;
    const struct loops *loops;
    const struct source_ranges *ranges;
    const struct inline_chains *chains;
    const bool *tagged;      /* per file of the debug information */
    uint32_t procedure_file; /* file of its declaration, or DEBUG_NONE */
};

/* Finds the locations of all loops; the memory of `locations` is used again. */
void loop_locations_find(struct loop_locations *locations, const struct loop_context *context);

void loop_locations_free(struct loop_locations *locations);

#endif
