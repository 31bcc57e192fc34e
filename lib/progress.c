#include "lib/progress.h"

#include "lib/diag.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The line is drawn at most this often, and first when the tool has run this long. */
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

static void erase_before_message(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
    pthread_mutex_unlock(&progress.lock);
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

void progress_begin(const char *what, size_t total)
{
    pthread_mutex_lock(&progress.lock);
    if (!progress.started) {
        progress.started = true;
        progress.terminal = isatty(STDERR_FILENO);
        progress.next_draw = now() + FIRST_SECONDS;
        diag_before_message(erase_before_message);
    }
    erase();
    progress.what = what;
    progress.done = 0;
    progress.total = total;
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void progress_add(size_t units)
{
    pthread_mutex_lock(&progress.lock);
    progress.done += units;
    draw();
    pthread_mutex_unlock(&progress.lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&progress.lock);
    erase();
    pthread_mutex_unlock(&progress.lock);
}
