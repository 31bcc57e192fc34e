/* Normal context, around a fork of a process that is measured: the child goes on as a process of
 * its own, with nothing measured yet. */
#ifndef HPCRUN_LIFE_FORK_H
#define HPCRUN_LIFE_FORK_H

void process_before_fork(void);
void process_after_fork_in_parent(void);
void process_after_fork_in_child(void);

#endif
