/* Signal handler: everything here may be used there, but for thread_image_init and
 * thread_image_after_fork.
 *
 * A thread's image: its fates, and what is needed to find its tree (struct arena_thread). It lies
 * in the arena file, so that it outlives the process, or in private memory if there is no such file
 * (record/arena-file.h). lib/arena-format.h has the protocol of the changes. */
#ifndef HPCRUN_THREAD_THREAD_IMAGE_H
#define HPCRUN_THREAD_THREAD_IMAGE_H

#include "hpcrun/process/moment.h"
#include "hpcrun/thread/thread.h"

/* A new record: its image is the private one. */
void thread_image_init(struct thread *thread);

/* In the child of a fork, where the parent's image and tree are not mapped: the image is the
 * private one. What the tree had in shared pages is gone; the caller frees the tree. */
void thread_image_after_fork(struct thread *thread);

/* Clears what the last thread has left, before the record is used again. */
void thread_image_clear(struct thread *thread);

/* Copies the image to `shared`, and moves the tree to shared pages. Then the image can be live.
 * False if there are not enough shared pages. */
bool thread_image_share(struct thread *thread, struct arena_thread *shared);

/* Empties the trace. What samples share a record from now on does not change. */
void thread_image_clear_trace(struct thread *thread);

/* Whether the image is in the arena file. */
static inline bool thread_image_is_shared(const struct thread *thread)
{
    return thread->image != thread->own_image;
}

/* Fills in what identifies the thread. */
void thread_image_identify(struct thread *thread);

/* Does so, and makes the image live. */
void thread_image_begin(struct thread *thread);

/* Takes the name that an agent has given the thread; false: none has. */
bool thread_image_take_name(struct thread *thread);

/* Whether the image counts, and not the thread's chunks in the measurement file. */
static inline bool thread_image_is_live(const struct thread *thread)
{
    return __atomic_load_n(&thread->image->state, __ATOMIC_ACQUIRE) == THREAD_IMAGE_LIVE;
}

/* A live image whose tree or trace has outgrown the shared pages does not have all data. */
static inline bool thread_image_is_whole(const struct thread *thread)
{
    return segments_are_shared(&thread->cct.nodes) && segments_are_shared(&thread->cct.values) &&
           segments_are_shared(&thread->logical.lnotes.notes) &&
           segments_are_shared(&thread->trace) && segments_are_shared(&thread->marks) &&
           segments_are_shared(&thread->wake_ups);
}

/* From now on the thread's chunks in the measurement file count. */
void thread_image_end(struct thread *thread);

/* Renews the clocks, the thread's name and its sources. */
void thread_image_look(struct thread *thread, struct moment now);

/* Counts samples of a fate, in the sample in progress. */
static inline void thread_image_count(struct thread *thread, struct thread_event *event,
                                      enum fate fate, uint64_t count, uint64_t amount)
{
    unsigned slot = fate_slot(fate), which = (unsigned)(event - thread->events);
    struct fate_count *counted = &event->fates[slot];
    arena_undo_save(&thread->image->undo, arena_word(ARENA_WORD_COUNT, which, slot),
                    counted->count);
    arena_undo_save(&thread->image->undo, arena_word(ARENA_WORD_AMOUNT, which, slot),
                    counted->amount);
    counted->count += count;
    counted->amount += amount;
}

/* The sample in progress is complete: publishes it. */
static inline void thread_image_commit(struct thread *thread, uint64_t ticks)
{
    struct arena_thread *image = thread->image;
    __atomic_store_n(&image->nodes, thread->cct.nodes.count, __ATOMIC_RELEASE);
    __atomic_store_n(&image->lnotes, thread->logical.lnotes.notes.count, __ATOMIC_RELEASE);
    __atomic_store_n(&image->values, thread->cct.values.count, __ATOMIC_RELEASE);
    __atomic_store_n(&image->ticks, ticks, __ATOMIC_RELEASE);
    __atomic_store_n(&image->undo.count, 0, __ATOMIC_RELEASE);
}

#endif
