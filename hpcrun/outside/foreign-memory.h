/* The memory of the measured process for the unwinder: the copy of the top of the stack that came with a
 * sample, and everything else by process_vm_readv.
 *
 * The process runs on while a sample is processed. What the copy does not have may have changed since. Only the outer
 * part of the stack matters much: outside of the copy, what is known of another time is used if the last bytes of the
 * copy were in their place then. So the frame that they belong to has not returned between these times, and neither have
 * its callers.
 *
 *     before   an earlier sample of the thread: what was known of its stack then
 *     after    now: the rest is read from the process, and is known for later samples, too */
#ifndef HPCRUN_OUTSIDE_FOREIGN_MEMORY_H
#define HPCRUN_OUTSIDE_FOREIGN_MEMORY_H

#include "hpcrun/unwind/memory.h"

/* What is known of a thread's stack as of one of its samples. Zeros: nothing. */
struct known_stack {
    uint8_t *bytes;           /* of the addresses from `base` on; NULL: none */
    uint64_t base, low, high; /* known are [low, high) */
};

/* The memory at a sample, whose copy of the stack from `sp` on are these bytes. It is valid until the next call. */
const struct memory_elsewhere *foreign_memory(struct known_stack *known, uint64_t sp, const uint8_t *stack, size_t bytes);

/* Whether the rest of the stack was read since that call, and whether it had changed. */
enum stack_rest { REST_UNREAD, REST_READ, REST_CHANGED };
enum stack_rest foreign_memory_rest(void);

/* The thread has ended. */
void known_stack_release(struct known_stack *known);

/* Notes a number for a thread. Returns the address at which agents read it, as if the process had it there. */
uint64_t foreign_memory_note(int tid, int number);

#endif
