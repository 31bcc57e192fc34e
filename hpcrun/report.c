#include "hpcrun/report.h"

#include "hpcrun/arguments.h"
#include "hpcrun/code/modules.h"
#include "hpcrun/fds.h"
#include "hpcrun/process.h"
#include "hpcrun/rank.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/sample/source.h"
#include "hpcrun/sys.h"

#include <sys/stat.h>

static int terminal = -1;          /* a copy of standard error */
static struct stat standard_error; /* what it was; no links: it was closed */

void report_init(void)
{
    sys2(SYS_fstat, 2, &standard_error);
    if (process.pid != process.config.launched_pid || fds_are_scarce())
        return;
    long copy = sys3(SYS_fcntl, 2, F_DUPFD_CLOEXEC, 3);
    terminal = copy < 0 ? -1 : fds_adopt((int)copy);
}

void report_after_fork(void)
{
    fds_close(terminal);
    terminal = -1;
}

/* Where to write to the terminal, or -1. Descriptor 2 may by now be a file of the program's. */
static int way_to_terminal(void)
{
    struct stat now;
    if (terminal >= 0)
        return terminal;
    bool same = standard_error.st_nlink > 0 && sys2(SYS_fstat, 2, &now) == 0 &&
                now.st_dev == standard_error.st_dev && now.st_ino == standard_error.st_ino;
    return same ? 2 : -1;
}

static void append(const char *path, const char *data, size_t size)
{
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    sys_write_all(fd, data, size);
    sys1(SYS_close, fd);
}

/* Static: a process that ends may be on a small signal stack, and one thread ends it. */
static char line_buffer[PATH_MAX + 512], path_buffer[PATH_MAX + 64], text_buffer[PATH_MAX + 256];

/* The line and a newline, in the buffer; one line at a time is written by a process that ends. */
static struct text with_newline(const char *prefix, const struct text *line)
{
    struct text full = TEXT(line_buffer);
    text_add(&full, prefix);
    text_add(&full, line->at);
    if (full.length + 1 == full.room)
        full.length--;
    text_add(&full, "\n");
    return full;
}

void report_log(const struct text *line)
{
    struct text path = TEXT(path_buffer), full = with_newline("", line);
    text_add(&path, process.config.directory);
    text_add(&path, "/" MEASUREMENT_LOG);
    append(path.at, full.at, full.length);
}

static void report_terminal(const struct text *line)
{
    struct text full = with_newline("hpcrun: ", line);
    int fd = way_to_terminal();
    if (fd >= 0)
        sys_write_all(fd, full.at, full.length);
}

void report_error(const struct text *line)
{
    report_terminal(line);
    report_log(line);
}

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
    if (event_is_time(event) && clock >= 1000000) {
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
    text_add(line, " in ");
    text_add_decimal(line, cpu / 1000000, 3);
    text_add(line, " s CPU, ");
    text_add_decimal(line, wall / 1000000, 3);
    text_add(line, " s wall, ");
    text_add_number(line, threads_count());
    text_add(line, threads_count() == 1 ? " thread" : " threads");
}

/* From so much on, and a hundredth of all, it is worth the words. */
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
    text_add(line, " s CPU in threads without samples");
}

static void report_write_failure(void)
{
    struct text line = TEXT(text_buffer);
    long error;
    uint64_t failures = measurement_failures(&error);
    if (failures == 0)
        return;
    text_add(&line, measurement_path());
    text_add(&line, ": ");
    text_add_error(&line, error);
    text_add(&line, measurement_is_there() ? ": a part of the measurement could not be written"
                                           : ": the measurement could not be written");
    report_error(&line);
}

void report_loss(const struct text *line)
{
    if (process.pid == process.config.launched_pid && !process.config.quiet)
        report_error(line);
    else
        report_log(line);
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

void report_summary(void)
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
    if (process.pid == process.config.launched_pid && !process.config.quiet) {
        text_add(&line, " -> ");
        text_add(&line, process.config.directory);
        report_terminal(&line);
    }
}
