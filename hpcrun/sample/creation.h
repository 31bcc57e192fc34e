/* Creation contexts (PPoPP 2009, section 4.2): the call path at which a thread is created. The
 * samples of the new thread are rooted there.
 *
 * The path is entered into the creator's tree, as that of a sample that pays nothing; the new
 * thread's record refers to its node. It keeps a copy, too: where it forks, the child's thread goes
 * on in its place, in a process that knows nothing of its creator. */
#ifndef HPCRUN_SAMPLE_CREATION_H
#define HPCRUN_SAMPLE_CREATION_H

#include "hpcrun/thread/thread.h"

/* Normal context, in the creating thread: notes where it stands in the record of the thread that it
 * is going to create. Notes nothing when the caller isn't sampled, has no complete path, or is a
 * runtime's worker without work. */
void creation_note(struct thread *created);

/* In the child of a fork, in its thread, whose tree is empty: it stays rooted where the thread that
 * forked was created. */
void creation_inherit(struct thread *self);

#endif
