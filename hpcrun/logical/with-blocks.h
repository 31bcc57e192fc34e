/* Signal handler. Locks of an interpreter that a thread has by the statement `with`.
 *
 * CPython's `threading.Lock` is a byte from 3.13.5 on at the latest, which does not say who has it. But while a thread
 * executes the block of
 *
 *     with LOCK:
 *         ...
 *
 * its frame keeps what will release the lock on its stack of values, and the code's table of exceptions says where:
 *
 *     table: instructions, target, depth     depth: number of values on the stack that the target finds
 *     stack: ..., X, Y                       3.13: Y is the bound method __exit__ of the lock
 *                                            3.14: X is the method of the lock's type, Y the lock
 *
 * The table is exact at each instruction: a lock whose block the thread has left is not in it. Locks that are taken by
 * acquire() are not found. A block that releases its lock in between counts as having it. */
#ifndef HPCRUN_LOGICAL_WITH_BLOCKS_H
#define HPCRUN_LOGICAL_WITH_BLOCKS_H

#include "agents/agent.h"
#include "hpcrun/unwind/memory.h"

#define MOST_WITH_BLOCKS 16

struct with_blocks {
    uint32_t count;
    uint64_t locks[MOST_WITH_BLOCKS]; /* addresses of the bytes that the objects would have */
};

/* Those of a thread, the innermost ones. `thread`: address of its structure of the interpreter. */
void with_blocks_find(struct memory *memory, const struct agent_frames *frames, uint64_t thread,
                      struct with_blocks *blocks);

#endif
