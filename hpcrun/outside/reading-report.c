#include "hpcrun/outside/reading-report.h"

#include "hpcrun/outside/cpu-events.h"
#include "hpcrun/outside/image-workers.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/outside/unsampled-time.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

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

static void add_copies(struct text *line)
{
    struct copy_range range = stack_copies_range();
    if (range.least == range.most)
        return;
    text_add(line, ", copies of stacks had ");
    text_add_number(line, range.least);
    text_add(line, " to ");
    text_add_number(line, range.most);
    text_add(line, " KB");
}

static void add_slowdown(struct text *line)
{
    if (stack_copies_slowdown() == 1)
        return;
    text_add(line, "; the rate of samples was lowered to 1/");
    text_add_number(line, stack_copies_slowdown());
    text_add(line, ", since reading them was too slow");
}

static void add_unmeasured(struct text *line, const char *why, int64_t processes)
{
    if (processes == 0)
        return;
    text_add(line, why);
    text_add_number(line, (uint64_t)processes);
    text_add(line, " processes were not measured");
}

static void add_seconds(struct text *line, uint64_t ns)
{
    text_add_decimal(line, ns / 1000000, 3);
    text_add(line, " s CPU");
}

static void add_without_sample(struct text *line, uint64_t processes, uint64_t threads)
{
    if (processes + threads == 0)
        return;
    text_add(line, "; ended without a sample: ");
    if (processes) {
        text_add_number(line, processes);
        text_add(line, processes == 1 ? " process" : " processes");
    }
    if (threads) {
        text_add(line, processes ? ", " : "");
        text_add_number(line, threads);
        text_add(line, threads == 1 ? " thread" : " threads");
    }
    text_add(line, " (at a higher rate, such as -e CPUTIME@f5000, more have some)");
}

/* The line of a single program has the same numbers. */
static void add_programs(struct text *line, const struct worker_counts *counts)
{
    uint64_t programs = counts->images - counts->too_late;
    text_add_number(line, programs);
    text_add(line, programs == 1 ? " program" : " programs, ");
    if (programs == 1)
        return;
    text_add_number(line, counts->measured.samples);
    text_add(line, counts->measured.samples == 1 ? " sample in " : " samples in ");
    add_seconds(line, counts->measured.cpu);
}

void report_reading(void)
{
    const struct worker_counts *counts = image_workers_counts();
    char buffer[1024];
    struct text line = TEXT(buffer);
    text_add(&line, "measured from outside: ");
    add_programs(&line, counts);
    text_add(&line, "; reading took ");
    add_seconds(&line, cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN));
    add_copies(&line);
    add_slowdown(&line);
    if (counts->too_late) {
        text_add(&line, "; not measured, since they ended before hpcrun had looked at them: ");
        text_add_number(&line, counts->too_late);
    }
    add_without_sample(&line, counts->without_sample, counts->measured.unseen);
    if (counts->measured.samples == 0 && counts->measured.cpu < NOTABLE_CPU)
        text_add(&line, "; no CPU time was used: -e REALTIME shows where threads wait");
    if (counts->images > 1 && counts->measured.unsampled) {
        text_add(&line, "; ");
        unsampled_time_add(&line, counts->measured.unsampled, counts->measured.system);
    }
    cpu_events_add(&line);
    add_unmeasured(&line, "; too many at once: ", counts->unmeasured[LACKS_ROOM]);
    add_unmeasured(&line, "; memory was used up (--memory): ", counts->unmeasured[LACKS_MEMORY]);
    report_init();
    if (process.config.quiet)
        report_log(&line);
    else
        report_error(&line);
}
