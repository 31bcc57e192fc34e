/* Tasks that may take long or go wrong: their outcome, their progress, and the first problem found.
 *
 * A pass over much data reports its progress, so that the user can stop it:
 *
 *     progress_begin("reading all calling contexts", n);
 *     for (i = 0; i < n && progress_at(i); i++)
 *         ...;
 *     if (progress_end() == STOPPED)
 *         discard the partial result
 *
 * The listener (the terminal) is called at most once per period, so passes that are
 * shorter stay silent. Without a listener nothing is reported, and nothing is ever stopped. A pass
 * inside another one counts as a part of it: only the outer one is reported, and both are stopped.
 *
 * Problems are defects of a database. Readers skip the damaged part and go on; the first problem is
 * kept. The printer reports it at the end, the terminal viewer in its status line, since a message
 * on stderr would spoil the screen.
 *
 * Not thread-safe: one thread only. */
#ifndef VIEWER_TASK_H
#define VIEWER_TASK_H

#include <stdbool.h>
#include <stdint.h>

enum outcome {
    DONE,
    STOPPED, /* by the user; nothing has changed, partial results are discarded */
    FAILED,  /* impossible; the cause is in problem_text() unless the function says otherwise */
};

/* Seconds: of progress that is shown; of a pass that the next key stops. */
#define PROGRESS_PERIOD 0.1
#define KEY_PERIOD      0.02

/* Shows the progress; false if the user wants to stop. `percent` is -1 if the end is unknown. */
typedef bool progress_listener(const char *what, int percent);

/* Sets the listener, NULL for none, and its period. */
void progress_listen(progress_listener *listener, double period);

/* Begins a pass of `total` steps, 0 if unknown. `what` must outlive the pass. */
void progress_begin(const char *what, uint64_t total);

/* Reports the number of steps done so far. Cheap, so call it for each step. False if the user wants
 * to stop; a caller that cannot stop may ignore that. */
bool progress_at(uint64_t done);

/* Ends the pass: DONE or STOPPED. */
enum outcome progress_end(void);

/* Remembers "FILE: CAUSE" unless there is a problem already. */
void problem_found(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first problem, NULL if there is none; valid until problem_clear. */
const char *problem_text(void);

void problem_clear(void);

#endif
