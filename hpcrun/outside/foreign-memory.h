/* The memory of the measured process for the unwinder: the copy of the top of the stack that came with a
 * sample, and everything else by process_vm_readv.
 *
 * The process runs on while a sample is processed. What the copy does not have may have changed since. Only the outer
 * part of the stack matters much: outside of the copy, it is used if the last bytes of the copy are still in their
 * place. Then the frame that they belong to has not returned, and neither have its callers. Within 0.1 ms of clang++,
 * four of five copies have changed; so what is beyond the copies of deep stacks is read at once (frame-catcher.h).
 * Words that are compared with those of an earlier path need no such proof (memory_begin_comparison). */
#ifndef HPCRUN_OUTSIDE_FOREIGN_MEMORY_H
#define HPCRUN_OUTSIDE_FOREIGN_MEMORY_H

#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/unwind/memory.h"

/* The memory at a sample, whose copy of the stack are these bytes; `caught` may have the rest, NULL: nothing has. It is
 * valid until the next call. */
const struct memory_elsewhere *foreign_memory(const uint8_t *stack, size_t bytes, const struct caught *caught);

/* Whether the rest of the stack was read since that call; CAUGHT: some of it from `caught`; CHANGED: the end of the
 * copy is no longer what the process has there. */
enum stack_rest { REST_UNREAD, REST_READ, REST_CAUGHT, REST_CHANGED };
enum stack_rest foreign_memory_rest(void);

/* Notes a number for the thread with a slot (agent_slot.number). Returns the address at which agents read it, as if the
 * process had it there. */
uint64_t foreign_memory_note(uint32_t slot, int number);

#endif
