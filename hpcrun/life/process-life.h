/* The end of a process image, at which everything measured is written, and its forks. */
#ifndef HPCRUN_LIFE_PROCESS_LIFE_H
#define HPCRUN_LIFE_PROCESS_LIFE_H

#include "lib/measurement-format.h"

#include <stdbool.h>

/* The end of the image: stops sampling in all threads, waits for handlers in flight (at most 2 s),
 * writes everything, and prints the summary. `state` says how it ends; `detail` is the signal
 * number, else 0. Only the first call does something and returns true; others wait for it, so that
 * they don't end the process before everything is written. For normal context and fatal signals. */
bool process_end(enum process_state state, int detail);

/* Before an exec: as process_end, but process_exec_failed takes it back. Returns whether it did
 * something: then it has to be taken back when the exec fails. `is_measured`: the program that it
 * is to execute is measured, too, and has the last word. */
bool process_before_exec(bool is_measured);
void process_exec_failed(void);

/* Writes what was measured, says why no more will be, and leaves the process alone for good: no
 * samples, no descriptors, no system calls of hpcrun's. The caller gives back its signals. */
void process_withdraw(const char *why);

/* Nobody has ended it: in the child of a fork, whose parent may have been at its end. */
void process_reset_end(void);

/* Normal context, around a fork of a process that is measured. The child becomes a process of its
 * own, with nothing measured yet. */
void process_before_fork(void);
void process_after_fork_in_parent(void);
void process_after_fork_in_child(void);

/* Switches sampling on or off in all threads (hpctoolkit_sampling_start, ..._stop). Normal context.
 */
void process_set_sampling(bool on);

#endif
