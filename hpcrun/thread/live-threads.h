/* Normal context, where not said otherwise.
 *
 * The threads of the process: records for them, and the list of those that live. A record is one
 * mapping, touched as it is used, and is handed on to a later thread when its thread has ended. */
#ifndef HPCRUN_THREAD_LIVE_THREADS_H
#define HPCRUN_THREAD_LIVE_THREADS_H

#include "hpcrun/thread/thread.h"

/* A record for a thread that is going to be; NULL without memory. */
struct thread *thread_new(enum thread_kind kind);
/* Gives back a record that was not begun. */
void thread_discard(struct thread *thread);

/* Enters the thread into the list, and numbers it; takes it out. */
void threads_enlist(struct thread *thread);
void threads_delist(struct thread *thread);

/* In the child of a fork: no other thread is there. Empties the list; `self`, which may be NULL,
 * keeps its record. */
void threads_forget(struct thread *self);

/* Waits until no other thread is busy, at most `wait_ns`; false when one still is. */
bool threads_quiesce(uint64_t wait_ns);

/* Keeps a thread's handler from its events while another thread changes them, with the list locked:
 * samples that come meanwhile are none. False when the thread is in its handler and stays there. */
bool thread_block_samples(struct thread *thread);
void thread_unblock_samples(struct thread *thread);

/* Calls `visit` for every live thread, with the list locked and signals blocked. */
void threads_visit(void (*visit)(struct thread *thread, void *data), void *data);
/* The same for those whose events are open; they are until `visit` returns. */
void threads_visit_events(void (*visit)(struct thread *thread, void *data), void *data);

/* Signal handler: how many have not ended. */
uint32_t threads_live(void);

/* Keep the list as it is around fork, in the forking thread. */
void threads_lock_for_fork(void);
void threads_unlock_after_fork(void);

#endif
