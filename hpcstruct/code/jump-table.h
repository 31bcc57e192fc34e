/* Jump tables: where the indirect jumps of `switch` statements and computed gotos lead.
 *
 * Recognized are the forms that gcc and clang emit, optimized or not, position-independent or not:
 *     movslq (TABLE,INDEX,4), R; add TABLE, R; jmp *R      entries are 32-bit, relative to the
 * table jmp *TABLE(,INDEX,8)  or  mov TABLE(,INDEX,8), R; jmp *R           entries are addresses
 * with the table's address from a lea anywhere in the function, and the number of entries from a
 * comparison or a mask of the index. Where no number is found, entries count until one leaves the
 * function or meets no instruction, or (flows_settle) another table begins.
 *
 * Other indirect jumps (mostly tail calls) stay without table. What is read is bounded whatever
 * the bytes are. */
#ifndef HPCSTRUCT_JUMP_TABLE_H
#define HPCSTRUCT_JUMP_TABLE_H

#include "hpcstruct/code/decode.h"

/* Gives a table to the indirect jumps in `flows` that have one. The decoder has just decoded the
 * fragment. */
void jump_tables_resolve(struct decoder *decoder, const struct decode_context *context,
                         const struct code_fragment *fragment, struct flows *flows);

/* Brings the jump tables of all fragments into their final state: what was read of tables of
 * unknown size ends where another table begins. */
void flows_settle(struct flows *flows, size_t fragment_count);

#endif
