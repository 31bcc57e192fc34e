#include "hpcrun/outside/reading-report.h"

#include "hpcrun/outside/cpu-events.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/printed-text.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/outside/unsampled-time.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <limits.h>
#include <sys/resource.h>

/* Less CPU time is none in a number with three places, s. */
#define NOTABLE_CPU 1000000u

static uint64_t cpu_of(int who)
{
    struct rusage usage = {0};
    getrusage(who, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The line of a single program has its samples and CPU time. */
static void add_programs(struct text *line, const struct worker_counts *counts)
{
    uint64_t programs = counts->images - counts->too_late, samples = counts->measured.samples;
    text_print(line, "%lu program%s", programs, plural(programs));
    if (programs != 1)
        text_print(line, ", %lu sample%s in %.3f s CPU", samples, plural(samples), seconds(counts->measured.cpu));
}

static void add_without_sample(struct text *line, uint64_t processes, uint64_t threads)
{
    if (processes + threads == 0)
        return;
    text_add(line, "; ended without a sample: ");
    const size_t begin = line->length;
    text_print_part(line, begin, ", ", processes, "%lu process%s", processes, processes == 1 ? "" : "es");
    text_print_part(line, begin, ", ", threads, "%lu thread%s", threads, plural(threads));
    text_add(line, " (at a higher rate, such as -e CPUTIME@f5000, more have some)");
}

static void add_unmeasured(struct text *line, const char *why, int64_t processes)
{
    if (processes)
        text_print(line, "; %s: %ld processes were not measured", why, processes);
}

void report_reading(void)
{
    const struct worker_counts *counts = image_workers_counts();
    const struct measured *measured = &counts->measured;
    const struct copy_range copies = stack_copies_range();
    char buffer[PATH_MAX + 1024];
    struct text line = TEXT(buffer);
    text_add(&line, "measured from outside: ");
    add_programs(&line, counts);
    text_print(&line, "; reading took %.3f s CPU", seconds(cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN)));
    if (copies.least < copies.most)
        text_print(&line, ", copies of stacks had %u to %u KB", copies.least, copies.most);
    if (stack_copies_slowdown() > 1)
        text_print(&line, "; the rate of samples was lowered to 1/%u, since reading them was too slow",
                   stack_copies_slowdown());
    if (counts->too_late)
        text_print(&line, "; not measured, since they ended before hpcrun had looked at them: %lu", counts->too_late);
    add_without_sample(&line, counts->without_sample, measured->unseen);
    if (measured->samples == 0 && measured->cpu < NOTABLE_CPU)
        text_add(&line, "; no CPU time was used: -e REALTIME shows where threads wait");
    if (counts->images > 1 && measured->unsampled)
        text_print(&line, "; %s", unsampled_time(measured->unsampled, measured->system));
    cpu_events_add(&line);
    add_unmeasured(&line, "too many at once", counts->unmeasured[LACKS_ROOM]);
    add_unmeasured(&line, "memory was used up (--memory)", counts->unmeasured[LACKS_MEMORY]);
    if (!image_workers_have_lines())
        text_print(&line, " -> %s", process.config.directory);
    report_init();
    if (process.config.quiet)
        report_log(&line);
    else
        report_error(&line);
}
