/* hpcrun -p, --name and -a measure in a child with a session of its own, so that they get a CPU between the busy threads
 * that they measure: those of the same terminal share theirs (cpu-priority.h). This process stays in the terminal's session,
 * where Ctrl-C reaches it. */
#ifndef HPCRUN_LAUNCH_OUTSIDE_SESSION_H
#define HPCRUN_LAUNCH_OUTSIDE_SESSION_H

/* Returns in the child. The caller waits for it, and ends as it does. */
void outside_session_begin(void);

#endif
