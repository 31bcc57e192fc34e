/* Normal context. Threads that can still be joined, and the frames of the calls that created them.
 *
 * A pthread_t says nothing of its thread once it has ended, and is used again after a join. So each
 * thread that is created joinable has a small record of its own here, from before its creation to
 * its join or detach. Its record in threads.h may serve another thread by then. A program that
 * neither joins nor detaches threads keeps these records as libc keeps the threads' stacks.
 *
 * A record is found by its pthread_t. The creator enters it when pthread_create returns, or the new
 * thread does when it begins, whoever comes first: pthread_create stores the id where the new
 * thread may already have freed the memory, unless it has not begun. */
#ifndef HPCRUN_THREAD_JOINABLE_H
#define HPCRUN_THREAD_JOINABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a longer creation path the outermost frames are kept. */
#define JOINABLE_FRAMES 256

/* A frame of the creator's stack: where it goes on, its sp there, and its node in the creator's
 * tree. The next inner frame returns to this pc and has this sp as its CFA. */
struct activation {
    uint64_t pc, sp;
    uint32_t node;
};

struct joinable {
    struct joinable *next;     /* in a list of this module */
    uint64_t id;               /* pthread_t */
    uint64_t serial;           /* number of its entry in the table, from 1 */
    uint32_t thread, creator;  /* indices of the new thread and of its creator */
    uint32_t room, count;      /* frames: as many as fit, and those that are kept */
    uint8_t holders;           /* set of enum joinable_holder */
    bool is_entered;           /* was entered into the table, where it may be no more */
    bool is_cut;               /* the path has inner frames that are not kept */
    bool is_awaited;           /* a join of it began */
    struct activation frame[]; /* outermost first */
};

/* A record with room for `frames`, at most JOINABLE_FRAMES; NULL without memory. The caller fills
 * it in before the thread is created. joinable_cancel: no thread came of it. */
struct joinable *joinable_new(uint32_t creator, uint32_t frames);
void joinable_cancel(struct joinable *joinable);

/* In the new thread, before it runs code of the program. `joinable` may be NULL: then the thread
 * will not be found under its id. */
void joinable_begin(struct joinable *joinable, uint64_t id, uint32_t thread);
/* In the creator, after the creation; `id` is where pthread_create stored the id. */
void joinable_created(struct joinable *joinable, const void *id);

/* Before a join: the serial number of the thread with this id, 0 if it is not known. */
uint64_t joinable_await(uint64_t id);
/* After the join of that thread succeeded: takes its record out of the table, to be given to
 * joinable_release; NULL if it is not there. */
struct joinable *joinable_joined(uint64_t id, uint64_t serial);
void joinable_release(struct joinable *joinable);

/* A thread is detached: nobody will join it. */
void joinable_detach(uint64_t id);

/* Around a fork in the forking thread; in the child, which has no such threads. */
void joinable_lock_for_fork(void);
void joinable_unlock_after_fork(void);
void joinable_forget(void);

#endif
