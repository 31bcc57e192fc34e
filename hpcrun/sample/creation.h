/* Creation contexts (PPoPP 2009, section 4.2): the call path at which a thread is created.
 *
 * The path is entered into the creator's tree, as that of a sample that pays nothing; the new
 * thread's record refers to its node. It keeps a copy, too: where it forks, the child's thread goes
 * on in its place, in a process that knows nothing of its creator.
 *
 * The samples of the new thread are rooted in the deepest frame of that path that stays live until
 * the thread is joined: the same activation, by return address and CFA, in the path of the join. A
 * procedure that returned and was called again from the same place looks the same. */
#ifndef HPCRUN_SAMPLE_CREATION_H
#define HPCRUN_SAMPLE_CREATION_H

#include "hpcrun/thread/joinable.h"
#include "hpcrun/thread/thread.h"

/* Normal context, in the creating thread: notes where it stands in the record of the thread that it
 * is going to create, and the frames there if that is created `is_joinable`. Notes nothing when the
 * caller isn't sampled, has no complete path, or is a runtime's worker without work. */
void creation_record(struct thread *created, bool is_joinable);

/* Normal context, in a thread that has joined another one, whose record this is. Notes which frame
 * stayed live if the caller created that thread and has a complete path. */
void creation_joined(const struct joinable *joined);

/* In the child of a fork, in its thread, whose tree is empty: it keeps where the thread that forked
 * was created. */
void creation_inherit(struct thread *self);

#endif
