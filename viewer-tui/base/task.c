#include "viewer-tui/base/task.h"

#include "lib/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Calls of progress_at per look at the clock. */
#define CALLS_PER_CLOCK_CHECK 64

static progress_listener *listener;
static double period; /* seconds between two of its calls */

static struct {
    const char *what;
    uint64_t total, done; /* steps of the outermost pass */
    unsigned depth, calls;
    double last_report; /* time of the last report, or of the start */
    bool is_stopped;
} pass;

static char *first_problem;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_listen(progress_listener *new_listener, double new_period)
{
    listener = new_listener;
    period = new_period;
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
    pass.last_report = now();
}

bool progress_at(uint64_t done)
{
    if (pass.depth == 1)
        pass.done = done;
    bool looks = listener && !pass.is_stopped && ++pass.calls % CALLS_PER_CLOCK_CHECK == 0;
    if (looks && now() - pass.last_report >= period) {
        double share = pass.done < pass.total ? (double)pass.done / (double)pass.total : 1;
        pass.is_stopped = !listener(pass.what, pass.total ? (int)(100 * share) : -1);
        pass.last_report = now(); /* again: on a slow link the report itself takes a while */
    }
    return !pass.is_stopped;
}

enum outcome progress_end(void)
{
    assert(pass.depth > 0);
    pass.depth--;
    return pass.is_stopped ? STOPPED : DONE;
}

void problem_found(const char *file, const char *format, ...)
{
    if (first_problem)
        return;
    char cause[512];
    va_list args;
    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    first_problem = mem_printf("%s: %s", file, cause);
    for (char *c = first_problem; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

const char *problem_text(void)
{
    return first_problem;
}

void problem_clear(void)
{
    free(first_problem);
    first_problem = NULL;
}
