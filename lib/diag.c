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
/* Seconds between two lines of a log. */
#define LOG_SECONDS 30.0

static struct {
    pthread_mutex_t lock;
    bool started, terminal, visible, in_bytes;
    double first_draw, next_line;
    _Atomic double next_look; /* when to look at what is due */
    const char *what;
    atomic_size_t done;
    size_t total; /* units */
    int other;    /* descriptor that the progress is written to; -1: none */
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .other = -1};

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

/* "reading measurements: 41 %" */
static void print_state(const char *before, const char *after)
{
    size_t done = progress.done < progress.total ? progress.done : progress.total;
    const size_t megabyte = 1000 * 1000, all = (progress.total + megabyte - 1) / megabyte;
    if (progress.in_bytes)
        fprintf(stderr, "%s%s: %zu of %zu MB%s", before, progress.what,
                done < progress.total ? done / megabyte : all, all, after);
    else
        fprintf(stderr, "%s%s: %u %%%s", before, progress.what,
                progress.total ? (unsigned)(100.0 * (double)done / (double)progress.total) : 0,
                after);
    fflush(stderr);
}

static void send_to_other(void)
{
    const struct diag_progress state = {progress.done, progress.total};
    if (write(progress.other, &state, sizeof state) != sizeof state)
        progress.other = -1; /* nobody reads it any more */
}

/* Does what is due. */
static void draw(void)
{
    double time = now();
    progress.next_look = time + REDRAW_SECONDS;
    if (progress.other >= 0)
        send_to_other();
    if (is_silent || time < progress.first_draw)
        return;
    if (progress.terminal) {
        print_state("\r\033[K", "");
        progress.visible = true;
    } else if (progress.other < 0 && time >= progress.next_line) {
        fprintf(stderr, "%s: ", tool_name);
        print_state("", "\n");
        progress.next_line = time + LOG_SECONDS;
    }
}

static void begin(const char *what, size_t total, bool in_bytes)
{
    pthread_mutex_lock(&progress.lock);
    double time = now();
    if (!progress.started) {
        progress.started = true;
        progress.terminal = isatty(STDERR_FILENO);
        progress.first_draw = time + FIRST_SECONDS;
    }
    erase();
    progress.next_line = time + LOG_SECONDS;
    progress.what = what;
    progress.done = 0;
    progress.total = total;
    progress.in_bytes = in_bytes;
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void diag_progress_begin(const char *what, size_t total)
{
    begin(what, total, false);
}

void diag_progress_begin_bytes(const char *what, size_t total)
{
    begin(what, total, true);
}

void diag_progress_add(size_t units)
{
    atomic_fetch_add_explicit(&progress.done, units, memory_order_relaxed);
    if (now() < progress.next_look)
        return;
    pthread_mutex_lock(&progress.lock);
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void diag_progress_end(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
    pthread_mutex_unlock(&progress.lock);
}

void diag_progress_to(int fd)
{
    progress.other = fd;
}
