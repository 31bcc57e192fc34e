/* Signal handler: everything here may be used there.
 *
 * The arena file of this process image, beside its measurement file and with the same name, but for
 * the suffix `.arenas` (lib/arena-format.h). It is created at the first sample, or when the first
 * thread is created, and removed when everything is in the measurement file. While it is there, a
 * thread's data needs no flush: it outlives the process. If the disk is full at the end, it stays:
 * its blocks were allocated before.
 *
 * There is no arena file, and threads flush every ten seconds (record/flush.h), if
 *  - the file system has no shared mappings, can't allocate blocks, or is nearly full;
 *  - the program restricts its system calls, or has few file descriptors; a filter that was there
 *    before the program (a container's) is no reason if the launcher has found it harmless;
 *  - an exec has failed: the measurement file was completed before it.
 * The same holds for one thread if its tree outgrows what the file system gives. */
#ifndef HPCRUN_RECORD_ARENA_FILE_H
#define HPCRUN_RECORD_ARENA_FILE_H

#include "hpcrun/process/moment.h"
#include "hpcrun/thread/thread.h"

/* In the thread, at its first sample or before: creates the file if it does not exist, and makes
 * the thread's image live if that is possible. False while the file may still be created, by another
 * thread or later: call again at the next sample. */
bool arena_file_begin_thread(struct thread *thread);

/* Publishes the sample in progress, after the modules and agents that it refers to were written. */
void arena_file_commit(struct thread *thread, uint64_t ticks);

/* Stores the clocks of the thread and, about once per second, those of the process. */
void arena_file_look(struct thread *thread, struct moment now);

/* Some of the data can't be written to the measurement file: the arena file stays at the end. */
void arena_file_keep(void);

/* Everything is in the measurement file: removes the arena file, unless it is to be kept. */
void arena_file_end(void);

/* The program is about to restrict its system calls: the file grows no further. */
void arena_file_restrict(void);

/* In the child of a fork: it has no arena file yet. */
void arena_file_after_fork(void);

#endif
