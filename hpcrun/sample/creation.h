/* Creation contexts (PPoPP 2009, section 4.2): the call path at which a thread is created.
 *
 * The path is entered into the creator's tree, like that of a sample without metrics, and the new
 * thread's record refers to its node. The record also has a copy of the path: after a fork in the
 * new thread, the child process has no data of the creator.
 *
 * The samples of the new thread are rooted in the deepest frame of the creation path that stays
 * live until the thread is joined: the same activation (return address and CFA) in the path of the
 * join. A procedure that returned and was called again from the same place looks the same. */
#ifndef HPCRUN_SAMPLE_CREATION_H
#define HPCRUN_SAMPLE_CREATION_H

#include "hpcrun/thread/joinable.h"
#include "hpcrun/thread/thread.h"

/* Normal context, in the creating thread: stores its call path in the record of the thread that it
 * is about to create, and the frames if that is created `is_joinable`. Stores nothing if the caller
 * is not sampled, has no complete path, or is a runtime's worker without work. */
void creation_record(struct thread *created, bool is_joinable);

/* Normal context, in a thread that has joined the thread of this record. If the caller created that
 * thread and has a complete path: stores which frame stayed live. */
void creation_joined(const struct joinable *joined);

/* Normal context, in a sampled thread: saves its call path up to the innermost frame at this pc,
 * and returns that frame's node. Empty, and CCT_ROOT, if there is none, or no complete path. */
uint32_t creation_save_path(struct saved_path *path, uint64_t pc);

/* In the child of a fork, in its only thread, whose tree is empty: enters the thread's creation
 * path. */
void creation_inherit(struct thread *self);

#endif
