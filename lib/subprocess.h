/* Runs another program to its end and collects its output. */
#ifndef LIB_SUBPROCESS_H
#define LIB_SUBPROCESS_H

#include "lib/diag.h"

#include <stdbool.h>
#include <stdio.h>

#define NO_INPUT (-1)

struct program_output {
    int status;   /* from waitpid; -1: the program could not be started */
    FILE *output; /* stdout, from its beginning; owned; NULL: the program could not be started */
    char *errors; /* stderr, at most some megabytes, owned; if the program could not be started, the cause;
                     "" if messages pass */
};

/* Called with the progress of a running program: what it writes to descriptor PROGRESS_FD
 * (diag_progress_to). */
typedef void progress_watcher(void *context, const struct diag_progress *progress);

enum { PROGRESS_FD = 3 };

struct program_start {
    const char *path;
    char *const *arguments;  /* NULL at the end */
    int input;               /* a file for its stdin; NO_INPUT: empty */
    bool messages_pass;      /* its stderr is ours */
    progress_watcher *watch; /* called in this thread; NULL: none */
    void *context;           /* of `watch` */
};

/* Stops all running programs. Threads that wait for one then wait forever, so call it only when the
 * process is about to end. */
void run_program_stop_all(void);

/* Runs a program without blocked signals. Thread-safe. The caller frees the result with
 * program_output_free. */
struct program_output run_program(const struct program_start *program);

void program_output_free(struct program_output *output);

#endif
