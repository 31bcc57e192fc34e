/* Handler. Locks of objects, from 3.13 on: a byte of the object, which does not say who has it. Which of them a thread has:
 *
 *     lock                       the thread has it if
 *     of a list, a dict, ...     it is in the thread's list of the sections of code it is in: {section around, lock}, or
 *     (builds without a GIL)     {section around, first lock, second lock}
 *     RLock (3.14)               the word after the byte is the thread's pthread_self()
 *     Lock, RLock                the thread executes the block of `with LOCK:`
 *
 * The frame of such a block keeps what will release the lock on its stack of values, and the code's table of exceptions
 * says where:
 *
 *     table: instructions, target, depth     depth: number of values on the stack that the target finds
 *     stack: ..., X, Y                       3.13: Y is the bound method __exit__ of the lock
 *                                            3.14: X is the method of the lock's type, Y the lock
 *
 * The table is exact at each instruction: a lock whose block the thread has left is not in it. Locks that are taken by
 * acquire() are not found. A block that releases its lock in between counts as having it. */
#ifndef AGENTS_PYTHON_LOCKS_H
#define AGENTS_PYTHON_LOCKS_H

#include "agents/python/python-objects.h"

/* The locks of a thread by its blocks of `with`, the innermost ones. */
struct python_blocks {
    bool is_known; /* they were looked for at this sample */
    uint32_t count;
    uint64_t locks[16];
};

/* Whether the sampled thread has the lock. `thread`: its thread state, which may be freed by now. Looks for its blocks
 * at most once. */
bool python_has_lock(const struct python_reader *r, uint64_t thread, uint64_t lock, struct python_blocks *blocks);

#endif
