/* Normal context, where not said otherwise.
 *
 * The list of live threads, and the memory for their records. A record is one mapping, whose pages
 * are touched as they are needed; a later thread uses it again. */
#ifndef HPCRUN_THREAD_LIVE_THREADS_H
#define HPCRUN_THREAD_LIVE_THREADS_H

#include "hpcrun/thread/thread.h"

/* A record for a thread that is about to be created; NULL without memory. */
struct thread *thread_new(enum thread_kind kind);
/* Gives back a record that is not in the list. */
void thread_discard(struct thread *thread);

/* Adds a thread to the list and sets its index; removes it. */
void threads_enlist(struct thread *thread);
void threads_delist(struct thread *thread);

/* In the child of a fork, which has no other thread: empties the list and frees all records except
 * `self`, which may be NULL. */
void threads_clear(struct thread *self);

/* Waits until no other thread is busy, at most `wait_ns`; false if one still is. Sets `quiescent`.
 */
bool threads_quiesce(uint64_t wait_ns);

/* With the list locked: makes a thread's handler ignore signals while the caller changes the
 * thread's events. False if the thread is in its handler and does not leave it within 100 ms. */
bool thread_block_samples(struct thread *thread);
void thread_unblock_samples(struct thread *thread);

/* Calls `visit` for every live thread, with the list locked and signals blocked. */
void threads_visit(void (*visit)(struct thread *thread, void *data), void *data);
/* The same for threads whose events are open; these stay open until `visit` returns. */
void threads_visit_events(void (*visit)(struct thread *thread, void *data), void *data);

/* Signal handler: the number of live threads. */
uint32_t threads_live(void);

/* Around a fork, in the forking thread: no other thread may be changing the list. */
void threads_lock_for_fork(void);
void threads_unlock_after_fork(void);

/* In the child of a fork before which the list was not locked: whether no other thread of the parent
 * was changing it. Else it can never be locked again. */
bool threads_can_lock(void);

#endif
