/* What turns out to be wrong with a database while it is looked at.
 *
 * Readers go on with what is intact, and the first problem is kept: the printer reports it at the
 * end, the terminal viewer in its status line, where a message on stderr would spoil the screen.
 * One thread. */
#ifndef VIEWER_PROBLEM_H
#define VIEWER_PROBLEM_H

/* Remembers "FILE: CAUSE" unless there is a problem already. */
void problem_found(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first problem, NULL when there is none; valid until problem_clear. */
const char *problem_text(void);

void problem_clear(void);

#endif
