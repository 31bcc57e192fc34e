#include "hpcrun/life/summary.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/modules.h"
#include "hpcrun/config/rank.h"
#include "hpcrun/process/arguments.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/source/source.h"

#include <string.h>

/* Static: a process that ends may be on a small signal stack, and one thread ends it. */
static char text_buffer[PATH_MAX + 256];

static const char *name_of_source(unsigned source)
{
    switch (source) {
    case SOURCE_TASK_CLOCK: return "perf task-clock";
    case SOURCE_CPU_TIMER: return "POSIX timers";
    case SOURCE_MONOTONIC_TIMER: return "POSIX timer";
    case SOURCE_COUNTER: return "perf counter";
    default: return "no source";
    }
}

static void add_sources(struct text *line, uint8_t set)
{
    const char *separator = "";
    if (set > 1)
        set &= (uint8_t)~1u; /* some threads could not open the event; others could */
    for (unsigned source = 0; source < 8; source++)
        if (set >> source & 1) {
            text_add(line, separator);
            text_add(line, name_of_source(source));
            separator = " and ";
        }
    if (set == 1 && sources_note()[0]) { /* none, and why */
        text_add(line, ": ");
        text_add(line, sources_note());
    }
}

static void add_event(struct text *line, unsigned which)
{
    const struct flush_totals *totals = flush_totals();
    const struct event *event = &process.config.events[which];
    uint64_t fired = totals->fates[which][fate_slot(FATE_FIRED)].count;
    uint64_t clock = event->kind == EVENT_REALTIME ? totals->ends.wall : totals->ends.cpu;
    text_add_number(line, fired);
    text_add(line, fired == 1 ? " sample of " : " samples of ");
    text_add(line, event->name);
    if (totals->sources[which] == 0)
        return; /* no thread could be written */
    text_add(line, " (");
    add_sources(line, totals->sources[which]);
    if (event->interval)
        text_add(line, ", by rate");
    if ((event_is_time(event) || event->interval) && clock >= 1000000) {
        text_add(line, ", ");
        text_add_decimal(line, (uint64_t)((unsigned __int128)fired * 10000000000u / clock), 1);
        text_add(line, "/s");
    }
    text_add(line, ")");
}

static void count_fates(uint64_t *partial, uint64_t *dropped)
{
    const struct flush_totals *totals = flush_totals();
    *partial = *dropped = 0;
    for (unsigned event = 0; event < process.config.event_count; event++)
        for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
            enum fate fate = fate_of_slot(slot);
            uint64_t count = totals->fates[event][slot].count;
            if (fate >= FATE_PARTIAL_NO_FDE && fate < FATE_KERNEL_UNATTRIBUTED)
                *partial += count;
            else if (fate >= FATE_DROPPED_OWN_CODE && fate < FATE_PARTIAL_NO_FDE)
                *dropped += count;
        }
}

static void add_life(struct text *line, uint64_t cpu)
{
    uint64_t wall = sys_clock(CLOCK_MONOTONIC) - process.began_wall;
    uint64_t count = flush_totals()->threads; /* one that began after the last flush is not there */
    text_add(line, " in ");
    text_add_decimal(line, cpu / 1000000, 3);
    text_add(line, " s CPU, ");
    text_add_decimal(line, wall / 1000000, 3);
    text_add(line, " s wall, ");
    text_add_number(line, count);
    text_add(line, count == 1 ? " thread" : " threads");
}

/* CPU time of threads that we do not know, and of others before we know them and after: from so
 * much on, and a hundredth of all, it is worth the words. */
#define UNSAMPLED_NS 10000000u

static void add_losses(struct text *line, uint64_t cpu)
{
    uint64_t partial, dropped, known = flush_totals()->ends.cpu;
    count_fates(&partial, &dropped);
    text_add(line, "; ");
    text_add_number(line, dropped);
    text_add(line, " dropped, ");
    text_add_number(line, partial);
    text_add(line, " partial paths");
    if (cpu < known + UNSAMPLED_NS || cpu - known < cpu / 100)
        return;
    text_add(line, ", ");
    text_add_decimal(line, (cpu - known) / 1000000, 3);
    text_add(line, " s CPU without samples");
}

static void report_write_failure(void)
{
    struct text line = TEXT(text_buffer);
    long error;
    uint64_t failures = file_failures(&error);
    if (failures == 0)
        return;
    text_add(&line, measurement_path());
    text_add(&line, ": ");
    text_add_error(&line, error);
    text_add(&line, measurement_is_there() ? ": a part of the measurement could not be written"
                                           : ": the measurement could not be written");
    report_error(&line);
}

static void report_too_many_modules(void)
{
    struct text line = TEXT(text_buffer);
    if (!modules_met_too_many())
        return;
    text_add(&line, "more than ");
    text_add_number(&line, modules_end() - INSTANCE_FIRST);
    text_add(&line, " libraries came and went: the code of later ones has no names");
    report_loss(&line);
}

void summarize(void)
{
    report_write_failure();
    report_too_many_modules();
    struct text line = TEXT(text_buffer);
    const char *program = arguments_kept()[0] ? arguments_kept()[0] : process.executable;
    text_add_bytes(&line, program, strnlen(program, 200));
    text_add(&line, "[");
    text_add_number(&line, (uint64_t)process.pid);
    text_add(&line, "]");
    if (process.rank != NO_RANK) {
        text_add(&line, " rank ");
        text_add_number(&line, (uint64_t)process.rank);
    }
    text_add(&line, ": ");
    for (unsigned i = 0; i < process.config.event_count; i++) {
        if (i > 0)
            text_add(&line, ", ");
        add_event(&line, i);
    }
    uint64_t cpu = sys_clock(CLOCK_PROCESS_CPUTIME_ID) - process.began_cpu;
    add_life(&line, cpu);
    add_losses(&line, cpu);
    report_log(&line);
    if (report_may_speak()) {
        text_add(&line, " -> ");
        text_add(&line, process.config.directory);
        report_terminal(&line);
    }
}
