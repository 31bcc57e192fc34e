/* Jump tables: the targets of the indirect jumps of `switch` statements and computed gotos.
 *
 * Recognizes what gcc and clang emit, optimized or not, position-independent or not:
 *
 *   code                                                    entries
 *   movslq (TABLE,INDEX,4), R; add TABLE, R; jmp *R         32-bit offsets from the table
 *   jmp *TABLE(,INDEX,8), or mov TABLE(,INDEX,8), R; jmp *R   64-bit addresses
 *
 * The address of the table comes from a `lea` anywhere in the function; the number of entries from
 * a comparison or a mask of the index. Without such a bound, the table ends at the first entry that
 * points out of the function or between instructions, and where another table begins.
 *
 * All other indirect jumps (most are tail calls) get no table. The effort is bounded, whatever the
 * bytes are. */
#ifndef HPCSTRUCT_JUMP_TABLE_H
#define HPCSTRUCT_JUMP_TABLE_H

#include "hpcstruct/code/decode.h"

/* Finds the tables of the indirect jumps in `flow`. The decoder has decoded this fragment last. */
void jump_tables_resolve(struct decoder *decoder, const struct decode_context *context,
                         const struct code_fragment *fragment, struct fragment_flow *flow);

/* Finishes the tables of all fragments: ends unbounded ones where another table begins, then sorts
 * their targets. */
void jump_tables_finish(struct fragment_flow *flows, size_t fragment_count, unsigned workers);

#endif
