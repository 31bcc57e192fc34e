#include "viewer-tui/base/task.h"

#include <stddef.h>
#include <time.h>

/* Calls of progress_at between two looks at the clock. */
#define PATIENCE 64

static progress_listener *tell;

static struct {
    const char *what;
    uint64_t total, done; /* steps of the outermost pass */
    unsigned depth, calls;
    double told; /* when the user was told last, or the pass began */
    bool is_stopped;
} pass;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_listen(progress_listener *listener)
{
    tell = listener;
}

void progress_begin(const char *what, uint64_t total)
{
    if (pass.depth++ > 0)
        return;
    pass.what = what;
    pass.total = total;
    pass.done = 0;
    pass.calls = 0;
    pass.is_stopped = false;
    pass.told = now();
}

static int percent(void)
{
    if (pass.total == 0)
        return -1;
    return pass.done < pass.total ? (int)(100 * (double)pass.done / (double)pass.total) : 100;
}

static void look_at_clock(void)
{
    double time = now();
    if (time - pass.told < PROGRESS_PERIOD)
        return;
    pass.is_stopped = !tell(pass.what, percent());
    pass.told = now(); /* on a slow link telling takes a while */
}

bool progress_at(uint64_t done)
{
    if (pass.depth == 1)
        pass.done = done;
    if (tell && !pass.is_stopped && ++pass.calls % PATIENCE == 0)
        look_at_clock();
    return !pass.is_stopped;
}

bool progress_end(void)
{
    pass.depth--;
    return !pass.is_stopped;
}
