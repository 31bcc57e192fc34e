/* `lock wait`: which threads waited for which lock, and where.
 *
 * A sample of the lock's holder pays `lock blame` at the holder's path, and adds the same amount to
 * the slot of one of the threads that wait (agents/agent-slots.h), each in turn. When its wait ends, that
 * thread pays the amount as `lock wait`, at the lock below its own call path. So a wait that no
 * sample saw costs nothing, and both metrics have the same sum, but for waits that never end. */
#ifndef HPCRUN_SAMPLE_LOCK_WAIT_RECORD_H
#define HPCRUN_SAMPLE_LOCK_WAIT_RECORD_H

#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/thread/thread.h"

/* Signal handler, after logical_enter. The node for an interpreter's lock that the thread keeps for long. It is
 * below the function of a library that the interpreted code has called, or else below that code. CCT_NO_MEMORY:
 * without memory, or the path has no interpreted code. */
uint32_t lock_kept_node(struct thread *self);

/* The same context as above. The node, below that of a path, of a lock: hpcprof finds its name by its address in a module,
 * as for code. A lock in no module has no name. */
uint32_t lock_node(struct thread *self, uint32_t path, uint64_t lock);

/* Normal context. Pays there what holders have charged to the slot. */
void lock_wait_pay(struct thread *self, struct agent_slot *slot, uint32_t node);

/* Normal context, in a wrapper, after wait_end. errno stays. */
void lock_wait_record(struct agent_slot *slot, const volatile void *lock);

/* The same for a semaphore that an interpreter uses as a lock, or for a lock of an object. */
void semaphore_wait_record(struct agent_slot *slot, const volatile void *lock, bool is_semaphore);

#endif
