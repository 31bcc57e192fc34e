/* Runs another program to its end and takes what it writes. */
#ifndef HPCPROF_SUBPROCESS_H
#define HPCPROF_SUBPROCESS_H

struct program_output {
    int status;   /* as waitpid gives it; -1: it could not be started */
    char *output; /* stdout, and stderr, up to some megabytes; to be freed by the caller */
    char *errors;
};

/* Stops all programs that run; threads that wait for one wait for ever. For a process that is about
 * to end. */
void run_program_stop_all(void);

/* Runs `path` with `arguments` (NULL at the end), no input and no signal blocked. Thread-safe. */
struct program_output run_program(const char *path, char *const *arguments);

void program_output_free(struct program_output *output);

#endif
