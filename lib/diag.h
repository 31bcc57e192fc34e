/* What the tools print on stderr: messages of one line each, "TOOL: FILE: CAUSE", and the progress
 * of long steps. Thread-safe. Not for signal handlers: libhpcrun.so has hpcrun/process/report.h. */
#ifndef LIB_DIAG_H
#define LIB_DIAG_H

#include <stddef.h>
#include <stdint.h>

/* Messages. Names in them are printed as lib/printable.h describes, so any bytes will do. A tool
 * that reported errors but went on ends with diag_exit_status(). */

/* Names the running tool. The string is kept, not copied. Call first in main. */
void diag_init(const char *tool);

/* From now on errors are counted but not printed, and notes are not printed. For processes that do
 * the same as another one, which prints them. */
void diag_be_silent(void);

/* An error that costs `file` or a part of it; counted. `file` is NULL if no file is to blame. The
 * text has no newline. */
void diag_error(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something that the user should know but that costs nothing; not counted. */
void diag_note(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As diag_error, then ends the process with status 1. If several threads do so, one prints its line. */
void diag_fatal(const char *file, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* Reports an invalid command line, points to --help and ends the process with status 2. */
void diag_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Number of diag_error calls so far. */
unsigned diag_error_count(void);

/* 0 if there were no errors, else 1. Prints the number of errors if there were several. */
int diag_exit_status(void);

/* Progress: a line such as "reading measurements: 41 %". It appears if stderr is a terminal and the
 * tool has run for a second; it disappears when the step ends or a message is printed. If stderr is no
 * terminal, a step that takes long leaves a line every half minute. One step at a time. */

/* Begins a step of `total` units and ends the step before. The text is kept, not copied. */
void diag_progress_begin(const char *what, size_t total);

/* The same where units are bytes: "analyzing libfoo.so: 41 of 297 MB". */
void diag_progress_begin_bytes(const char *what, size_t total);

/* Adds `units` to the finished units of the step. Cheap: for each of many small things, too. */
void diag_progress_add(size_t units);

/* Ends the step. */
void diag_progress_end(void);

/* The progress of a step. */
struct diag_progress {
    uint64_t done, total; /* units */
};

/* From now on, the progress is written to this descriptor every tenth of a second, too: a struct
 * diag_progress. For a program that shows the progress of another one. */
void diag_progress_to(int fd);

#endif
