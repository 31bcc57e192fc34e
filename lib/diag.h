/* Messages to the user: one line each, "TOOL: FILE: CAUSE".
 *
 * Names in them are printed in the form of lib/printable.h, whatever they hold. Every tool prints
 * its complaints through these functions, so that they look alike and are counted: a tool that complained about an input and went on ends with diag_exit_status().
 * Thread-safe. Not for signal handlers; libhpcrun.so has its own (hpcrun/process/report.h). */
#ifndef LIB_DIAG_H
#define LIB_DIAG_H

/* Names the running tool; the string is kept, not copied. Call first in main. */
void diag_init(const char *tool);

/* A function that is called before every line that is printed here; NULL for none. For those who
 * have drawn on the terminal. Call before there are threads. */
void diag_before_message(void (*function)(void));

/* Something in `file` is wrong and costs that file or a part of it; counted.
 * `file` may be NULL when no file is to blame. No newline in the text. */
void diag_error(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something the user should know that costs nothing; not counted. */
void diag_note(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As diag_error, then ends the process with status 1. */
void diag_fatal(const char *file, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* A command line that cannot be understood: prints the text and a pointer to --help, ends the
 * process with status 2. */
void diag_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Number of diag_error calls so far. */
unsigned diag_error_count(void);

/* 0 when nothing was complained about, 1 otherwise. With complaints, prints their count. */
int diag_exit_status(void);

#endif
