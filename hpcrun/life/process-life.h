/* The end of a process image, at which everything measured is written, and its forks. */
#ifndef HPCRUN_LIFE_PROCESS_LIFE_H
#define HPCRUN_LIFE_PROCESS_LIFE_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* Ends the image: stops sampling in all threads, waits for running handlers (at most 2 s), writes
 * everything, and prints the summary. `state` says how it ends; `detail` is the signal number, else
 * 0. Only the first call does this, and returns true. Later calls wait for it, so that they don't
 * end the process before everything is written. For normal context and fatal signals. */
bool process_end(enum process_state state, int detail);

/* Before an exec: the same as process_end, except that process_exec_failed can undo it. Returns
 * whether it did something: then process_exec_failed must be called if the exec fails.
 * `is_measured`: the new program is measured, too, and will print its summary. */
bool process_before_exec(bool is_measured);
void process_exec_failed(void);

/* Normal context, before the process changes its user, groups or root. Opens what it and its forks will
 * need to write and may then have no right to open. */
void process_before_change_of_rights(void);

/* Stops measuring the process: writes what was measured, reports `why`, and from then on takes no
 * samples, keeps no descriptors and makes no system calls. The caller gives back its signals. */
void process_withdraw(const char *why);

/* Resets the state of the end in the child of a fork: if another thread of the parent was ending
 * the process, that thread does not exist in the child. */
void process_reset_end(void);

/* Normal context, around a fork of a process that is measured. The child becomes a process of its
 * own, with nothing measured yet. */
void process_before_fork(void);
void process_after_fork_in_parent(void);
enum fork_way {
    FORK_HOOKED,
    FORK_BARE, /* by a bare system call: the child has run without samples until now */
};
void process_after_fork_in_child(enum fork_way way);

/* Switches sampling on or off in all threads (hpctoolkit_sampling_start, ..._stop). Normal context.
 */
void process_set_sampling(bool on);

#endif
