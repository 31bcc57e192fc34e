/* Normal context. Records of threads that can still be joined, with the frames of the call that
 * created each.
 *
 * The thread's own record (thread.h) may belong to another thread by the time of the join, and its
 * pthread_t is used again after that. So every thread that is created joinable has a small record
 * here, from before its creation until its join or detach. If a program neither joins nor detaches
 * a thread, its record stays, as does libc's stack of the thread.
 *
 * A record is found by its pthread_t. It is entered when pthread_create returns in the creator, or
 * when the new thread begins, whichever is first. The creator reads the id where pthread_create
 * stored it only if the new thread has not begun: that thread may free the memory. */
#ifndef HPCRUN_THREAD_JOINABLE_H
#define HPCRUN_THREAD_JOINABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Most frames of a creation path in a record: the outermost ones. */
#define JOINABLE_FRAMES 256

/* A frame of the creator's stack: the pc and sp with which it will continue (the return address and
 * CFA of the next inner frame), and its node in the creator's tree. */
struct activation {
    uint64_t pc, sp;
    uint32_t node;
};

struct joinable {
    struct joinable *next;     /* in its bucket, or in a list of unused records */
    uint64_t id;               /* pthread_t */
    uint64_t serial;           /* unique number of its entry in the table, from 1 */
    uint32_t thread, creator;  /* indices of the new thread and of its creator */
    uint32_t room, count;      /* frames that fit, and frames that are there */
    uint8_t holders;           /* set of enum joinable_holder */
    bool is_entered;           /* was entered into the table; it may have been removed since */
    bool is_cut;               /* inner frames of the path are missing */
    bool is_awaited;           /* a join of it has begun */
    struct activation frame[]; /* outermost first */
};

/* A record with room for `frames`, at most JOINABLE_FRAMES; NULL without memory. The caller fills
 * it in before the thread is created. joinable_cancel frees it if the creation fails. */
struct joinable *joinable_new(uint32_t creator, uint32_t frames);
void joinable_cancel(struct joinable *joinable);

/* In the new thread, before it runs code of the program. `joinable` may be NULL: then the thread
 * will not be found by its id. */
void joinable_begin(struct joinable *joinable, uint64_t id, uint32_t thread);
/* In the creator, after the creation; `id` is where pthread_create stored the id. */
void joinable_created(struct joinable *joinable, const void *id);

/* Before a join: the serial number of the thread with this id; 0 if it is not known. */
uint64_t joinable_await(uint64_t id);
/* After the join of that thread succeeded: removes its record from the table. The caller passes it
 * to joinable_release. NULL if it is not there. */
struct joinable *joinable_joined(uint64_t id, uint64_t serial);
void joinable_release(struct joinable *joinable);

/* The thread is detached: nobody will join it. */
void joinable_detach(uint64_t id);

/* Around a fork, in the forking thread. In the child, which has no such threads, joinable_clear
 * empties the table. */
void joinable_lock_for_fork(void);
bool joinable_can_lock(void);
void joinable_unlock_after_fork(void);
void joinable_clear(void);

#endif
