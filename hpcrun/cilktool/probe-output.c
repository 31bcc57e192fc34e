#include "hpcrun/cilktool/probe-output.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/lock.h"
#include "hpcrun/cilktool/tool-engine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    struct lock lock;
    bool has_begun;
    FILE *file;
    pid_t at_exit; /* of the process that writes sums at its end; 0: none */
} output;

static FILE *begin(void)
{
    const char *path = getenv("CILKSCALE_OUT");
    FILE *file = path ? fopen(path, "we") : NULL;
    if (path && !file)
        perror(path);
    if (!file)
        file = stdout;
    fprintf(file, "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),"
                  "burdened_parallelism\n");
    return file;
}

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

HOOK void wsp_dump(wsp_t values, const char *tag)
{
    lock_enter(&output.lock);
    if (!output.has_begun)
        output.file = begin();
    output.has_begun = true;
    fprintf(output.file, "%s,%g,%g,%g,%g,%g\n", tag, seconds(values.work), seconds(values.span),
            seconds(values.work) / seconds(values.span), seconds(values.bspan),
            seconds(values.work) / seconds(values.bspan));
    fflush(output.file);
    lock_leave(&output.lock);
}

void probe_output_at_exit(void)
{
    output.at_exit = getpid();
}

__attribute__((destructor)) static void write_sums(void)
{
    const bool writes = output.at_exit && output.at_exit == getpid();
    const struct frame_events *events = writes ? tool_engine() : NULL;
    if (!events)
        return;
    if (events->problem())
        fprintf(stderr, "libhpctoolkit-cilktool: work and span were not measured: %s\n",
                events->problem());
    else
        wsp_dump(wsp_getworkspan(), "");
}
