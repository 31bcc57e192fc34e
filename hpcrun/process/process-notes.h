/* Signal handler: everything here may be used there; also in the child of a vfork.
 *
 * Lines that this process appends to the list of processes in the measurement directory
 * (lib/process-list.h): its begin, its end, a program that it starts and that can't be measured,
 * the end of a child. Each line is one write. If it fails, a line about a child is kept, and written
 * with the next one; other lines are lost. errno stays as it is. */
#ifndef HPCRUN_PROCESS_PROCESS_NOTES_H
#define HPCRUN_PROCESS_PROCESS_NOTES_H

#include "hpcrun/base/text-buffer.h"
#include "lib/process-list.h"

/* The process image has begun. */
void note_begin(void);

/* What an image could not write; `error` is an errno, 0 if there is no loss. CPU times, ns, of the
 * process and of the children that it has waited for. */
struct image_account {
    enum image_loss loss;
    long error;
    uint64_t process_cpu, children_cpu;
};

/* The process image ends, or an exec is about to replace it. `detail`: as in process_end. False if
 * this could not be written. */
bool note_end(enum process_state state, int detail, const struct image_account *account);

/* A program that can't be measured is about to run, as process `pid`; 0: not known. */
void note_unmeasured(int pid, enum unmeasured why, const char *program);

/* The calling process's exec failed; or it is the child of a vfork and ends without one. */
void note_exec_failed(void);

/* Child `pid` has ended, killed by `signal` if that is not 0. `cpu`: CPU time, ns, of the child and of
 * the children that it waited for. */
void note_child_end(int pid, int signal, uint64_t cpu);

/* The lines about children that this process could not write; a negative errno that says why, 0 if
 * there are none. */
const struct text *notes_pending(void);
long notes_pending_error(void);

/* In the child of a fork: these are its parent's. */
void notes_after_fork(void);

#endif
