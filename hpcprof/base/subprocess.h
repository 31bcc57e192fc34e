/* Runs another program to its end and collects its output. */
#ifndef HPCPROF_SUBPROCESS_H
#define HPCPROF_SUBPROCESS_H

#include "lib/diag.h"

#include <stdio.h>

#define NO_INPUT (-1)

struct program_output {
    int status;   /* from waitpid; -1: the program could not be started */
    FILE *output; /* stdout, from its beginning; owned; NULL: the program could not be started */
    char *errors; /* stderr, at most some megabytes, owned; if the program could not be started, the cause */
};

/* Called with the progress of a running program: what it writes to descriptor PROGRESS_FD
 * (diag_progress_to). */
typedef void progress_watcher(void *context, const struct diag_progress *progress);

enum { PROGRESS_FD = 3 };

/* Stops all running programs. Threads that wait for one then wait forever, so call it only when the
 * process is about to end. */
void run_program_stop_all(void);

/* Runs `path` with `arguments` (NULL at the end) and without blocked signals. Its stdin is the file
 * `input`, or empty (NO_INPUT). Calls `watch`, unless it is NULL, in this thread. Thread-safe. The caller frees
 * the result with program_output_free. */
struct program_output run_program(const char *path, char *const *arguments, int input,
                                  progress_watcher *watch, void *context);

void program_output_free(struct program_output *output);

#endif
