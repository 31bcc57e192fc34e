#include "lib/diag.h"

#include "lib/printable.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- messages ---- */

static const char *tool_name = "hpctoolkit";
static atomic_uint errors;
static bool is_silent;

void diag_init(const char *tool)
{
    tool_name = tool;
}

void diag_be_silent(void)
{
    is_silent = true;
}

/* Uses buffers on the stack, because the message may be that memory ran out. */
static void print_line(const char *file, const char *format, va_list args)
{
    char text[4096], line[sizeof text + 4096], printable[2 * sizeof line];
    vsnprintf(text, sizeof text, format, args);
    snprintf(line, sizeof line, "%s: %s%s%s", tool_name, file ? file : "", file ? ": " : "", text);
    printable_copy(printable, sizeof printable, line);
    diag_progress_end();
    fprintf(stderr, "%s\n", printable);
}

void diag_error(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!is_silent)
        print_line(file, format, args);
    va_end(args);
    atomic_fetch_add(&errors, 1);
}

void diag_note(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!is_silent)
        print_line(file, format, args);
    va_end(args);
}

/* Taken by the first thread that ends the process: another one's failure often has the same cause. */
static pthread_mutex_t end_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void diag_fatal(const char *file, const char *format, ...)
{
    va_list args;
    pthread_mutex_lock(&end_lock);
    va_start(args, format);
    print_line(file, format, args);
    va_end(args);
    exit(1);
}

void diag_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(NULL, format, args);
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", tool_name);
    exit(2);
}

unsigned diag_error_count(void)
{
    return atomic_load(&errors);
}

int diag_exit_status(void)
{
    unsigned count = diag_error_count();
    if (count == 0)
        return 0;
    if (count > 1 && !is_silent)
        fprintf(stderr, "%s: %u problems, see above\n", tool_name, count);
    return 1;
}

/* ---- progress ---- */

/* Seconds between two drawings of the progress line, and before the first one. */
#define REDRAW_SECONDS 0.1
#define FIRST_SECONDS  1.0

static struct {
    pthread_mutex_t lock;
    bool started, terminal, visible;
    double next_draw;
    const char *what;
    size_t done, total;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void erase(void)
{
    if (progress.visible)
        fputs("\r\033[K", stderr);
    progress.visible = false;
}

static void draw(void)
{
    double time = now();
    if (!progress.terminal || time < progress.next_draw)
        return;
    progress.next_draw = time + REDRAW_SECONDS;
    unsigned percent =
        progress.total ? (unsigned)(100.0 * (double)progress.done / (double)progress.total) : 0;
    fprintf(stderr, "\r\033[K%s: %u %%", progress.what, percent);
    fflush(stderr);
    progress.visible = true;
}

void diag_progress_begin(const char *what, size_t total)
{
    pthread_mutex_lock(&progress.lock);
    if (!progress.started) {
        progress.started = true;
        progress.terminal = isatty(STDERR_FILENO);
        progress.next_draw = now() + FIRST_SECONDS;
    }
    erase();
    progress.what = what;
    progress.done = 0;
    progress.total = total;
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void diag_progress_add(size_t units)
{
    pthread_mutex_lock(&progress.lock);
    progress.done += units;
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void diag_progress_end(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
    pthread_mutex_unlock(&progress.lock);
}
