/* The critical path of a process: the chain of work and wake-ups that its end waited for, from the end backwards.
 *
 * On a thread, the chain goes back to when another thread ended its last wait before. There it changes to that other
 * thread, at the time when it did so: whatever the first one did before it waited, it would have gone on at the same
 * time. A thread's creation is its first wake-up. A wait without a known waker (a sleep, input, a wait that is too short
 * to be recorded) does not change the thread: it is a part of the chain.
 *
 * Whatever is recorded or lost, a thread is not on the chain before its creation or after its end. At its creation, the
 * chain goes to its creator. If that waits when the new thread begins to run, it has created it before that wait.
 *
 * A worker without work only waits for others. If it is not known who ended that (threads that spin), and the thread that
 * waited for the worker later had not begun to wait, the chain goes back to that thread: it ends a runtime's workers.
 *
 * If a thread was woken too often, its wake-ups are known in some windows of time (struct timeline_wake_list). In between the
 * chain stays on the thread, and is not known: chains from any thread soon meet, so that little of the next window is
 * wrong.
 *
 *     creator  ####c.......#####     . waits     c creates, s signals
 *     worker       ####s....         chain: creator up to c, worker up to s, creator */
#ifndef VIEWER_LONGEST_CHAIN_H
#define VIEWER_LONGEST_CHAIN_H

#include "lib/alloc.h"
#include "viewer-tui/db/timeline.h"

/* The time of a thread from when another one released it (`from`), over when it went on (`runs`), until it released the
 * next one, or the end. */
struct chain_piece {
    uint32_t thread; /* index in timeline->threads */
    bool is_unknown; /* other threads may have been on the chain */
    uint64_t from, runs, to;
};

typedef VEC(struct chain_piece) chain_pieces;

/* The chain that ends at `end` in a thread, down to `begin`; ascending by time, without gaps. `ends`: by index in
 * timeline->threads, when the thread ended; UINT64_MAX: unknown. NULL: none is known. The owner frees it with vec_free. */
chain_pieces longest_chain(const struct timeline *timeline, const uint64_t *ends, uint32_t thread, uint64_t begin,
                           uint64_t end);

#endif
