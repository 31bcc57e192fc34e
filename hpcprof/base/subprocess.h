/* Runs another program to its end and collects its output. */
#ifndef HPCPROF_SUBPROCESS_H
#define HPCPROF_SUBPROCESS_H

struct program_output {
    int status;   /* from waitpid; -1: the program could not be started */
    char *output; /* stdout, at most some megabytes; owned */
    char *errors; /* stderr likewise; if the program could not be started, the cause */
};

/* Stops all running programs. Threads that wait for one then wait forever, so call it only when the
 * process is about to end. */
void run_program_stop_all(void);

/* Runs `path` with `arguments` (NULL at the end), without input and without blocked signals.
 * Thread-safe. The caller frees the result with program_output_free. */
struct program_output run_program(const char *path, char *const *arguments);

void program_output_free(struct program_output *output);

#endif
