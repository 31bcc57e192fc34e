/* The critical path of a run: the chain of work and wake-ups that its end waited for, from the end backwards.
 *
 * On a thread, the chain goes back to when another thread ended its last wait before. There it changes to that other
 * thread, at the time when it did so: whatever the first one did before it waited, it would have gone on at the same
 * time. A thread's creation is its first wake-up. A wait without a known waker (a sleep, input, a wait that is too short
 * to be recorded) does not change the thread: it is a part of the chain.
 *
 * Whatever is recorded or lost, a thread is not on the chain before its creation, before its process's begin or after
 * its end. At its creation, the chain goes to its creator. If that waits when the new thread begins to run, it has
 * created it before that wait.
 *
 * A worker without work only waits for others. If it is not known who ended that (threads that spin), and the thread that
 * waited for the worker later had not begun to wait, the chain goes back to that thread: it ends a runtime's workers.
 *
 * Where a thread had waited for a child process, the chain goes on with the end of that, in its first thread. At that one's
 * begin it goes back to the thread that waited: if it had not begun to wait, it was what created the process, or came
 * before that.
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

/* An image of a process: one that executes another program has several. */
struct chain_process {
    uint32_t pid, host;
    uint32_t first; /* its first thread, index in timeline->threads; NOTHING: it has none there */
    uint64_t begin, end;
    uint32_t waiter; /* longest_chain's: the thread that waited for its end, and since when */
    uint64_t since;
};

struct chain_processes {
    VEC(struct chain_process) list;
    uint32_t *of; /* by index in timeline->threads: index of the thread's process */
    uint64_t *ends; /* the same: when the thread ended; UINT64_MAX: unknown. NULL: none is known */
};

/* The chain that ends at `end` in a thread, down to `begin`; ascending by time, without gaps. The owner frees it with
 * vec_free. processes NULL: all threads are of one. */
chain_pieces longest_chain(const struct timeline *timeline, struct chain_processes *processes, uint32_t thread,
                           uint64_t begin, uint64_t end);

#endif
