#include "hpcrun/life/process-summary.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/config/run-config.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/source/kernel-frames.h"
#include "hpcrun/source/sample-source.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

/* Static, since the thread that ends a process may be on a small signal stack; only one does. */
static char text_buffer[2 * PATH_MAX];

static void add_sources(struct text *line, uint8_t set)
{
    const char *separator = "";
    if (set > 1)
        set &= (uint8_t)~1u; /* some threads could not open the event, but others could */
    for (unsigned source = 0; source < 8; source++)
        if (set >> source & 1) {
            const char *name = source_name(source);
            text_add(line, separator);
            text_add(line, name ? name : "no source");
            separator = " and ";
        }
    if (set == 1 && sources_fallback_reason()[0]) { /* no thread could open it: add the reason */
        text_add(line, ": ");
        text_add(line, sources_fallback_reason());
    }
}

/* Totals of the image. Times in ns. */
struct image_counts {
    uint64_t threads, cpu;                                 /* CPU time of the process */
    uint64_t thread_cpu, thread_wall;                      /* lives of its threads */
    uint64_t dropped, partial;                             /* samples */
    uint64_t fired[MAX_EVENTS];
    uint8_t sources[MAX_EVENTS]; /* sets of enum sample_source, by bit */
};

static void add_fates(struct image_counts *counts, unsigned event,
                      const struct fate_count fates[FATE_SLOTS])
{
    counts->fired[event] += fates[fate_slot(FATE_FIRED)].count;
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        enum fate fate = fate_of_slot(slot);
        if (fate >= FATE_PARTIAL_NO_FDE && fate < FATE_KERNEL_UNATTRIBUTED)
            counts->partial += fates[slot].count;
        else if (fate >= FATE_DROPPED_OWN_CODE && fate < FATE_PARTIAL_NO_FDE)
            counts->dropped += fates[slot].count;
    }
}

/* The counts of this image. */
static struct image_counts own_counts(void)
{
    const struct flush_totals *totals = flush_totals();
    struct image_counts counts = {
        .threads = totals->threads, /* without threads that began after the last flush */
        .cpu = process_cpu_time() - process.began_cpu,
        .thread_cpu = totals->ends.cpu,
        .thread_wall = totals->ends.wall,
    };
    for (unsigned event = 0; event < process.config.event_count; event++) {
        add_fates(&counts, event, totals->fates[event]);
        counts.sources[event] = totals->sources[event];
    }
    return counts;
}

static void add_event(struct text *line, unsigned which, const struct image_counts *counts)
{
    const struct event *event = &process.config.events[which];
    uint64_t fired = counts->fired[which];
    /* From outside, only threads with samples are known. */
    uint64_t cpu = process.config.is_outside && counts->cpu > counts->thread_cpu ? counts->cpu : counts->thread_cpu;
    uint64_t clock = event->kind == EVENT_REALTIME ? counts->thread_wall : cpu;
    text_add_number(line, fired);
    text_add(line, fired == 1 ? " sample of " : " samples of ");
    text_add(line, event->name);
    if (counts->sources[which] == 0)
        return; /* no thread could be written */
    text_add(line, " (");
    add_sources(line, counts->sources[which]);
    if (event->interval)
        text_add(line, ", by rate");
    if ((event_is_time(event) || event->interval) && clock >= 1000000) {
        text_add(line, ", ");
        text_add_decimal(line, (uint64_t)((unsigned __int128)fired * 10000000000u / clock), 1);
        text_add(line, "/s");
    }
    text_add(line, ")");
}

static void add_life(struct text *line, const struct image_counts *counts)
{
    uint64_t wall = sys_clock(CLOCK_MONOTONIC) - process.began_wall;
    text_add(line, " in ");
    text_add_decimal(line, counts->cpu / 1000000, 3);
    text_add(line, " s CPU, ");
    text_add_decimal(line, wall / 1000000, 3);
    text_add(line, " s wall, ");
    text_add_number(line, counts->threads);
    text_add(line, counts->threads == 1 ? " thread" : " threads");
    text_add(line, process.config.is_outside ? " with samples" : "");
}

/* CPU time outside of sampled threads (unknown threads, and before and after sampling). It is
 * reported from this amount on, if it is also at least a hundredth of the total. */
#define UNSAMPLED_NS 10000000u

static void add_losses(struct text *line, const struct image_counts *counts)
{
    uint64_t cpu = counts->cpu, known = counts->thread_cpu;
    text_add(line, "; ");
    text_add_number(line, counts->dropped);
    text_add(line, " dropped, ");
    text_add_number(line, counts->partial);
    text_add(line, " partial paths");
    if (cpu < known + UNSAMPLED_NS || cpu - known < cpu / 100)
        return;
    text_add(line, ", ");
    text_add_decimal(line, (cpu - known) / 1000000, 3);
    text_add(line, " s CPU without samples");
}

/* By the kernel's account: of all children that were waited for, measured or not. hpcprof says what was
 * measured of them. */
static void add_children(struct text *line, uint64_t cpu)
{
    if (cpu < 1000000)
        return;
    text_add(line, ", ");
    text_add_decimal(line, cpu / 1000000, 3);
    text_add(line, " s CPU in children");
}

static uint64_t cpu_of_children(void)
{
    struct rusage usage = {0};
    if (process.config.is_outside)
        return process.children_elsewhere;
    sys2(SYS_getrusage, RUSAGE_CHILDREN, &usage);
    uint64_t all = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                   (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
    bool had_some = process.pid == process.config.launched_pid;
    uint64_t before = had_some ? (uint64_t)process.config.children_ms * 1000000u : 0;
    return all > before ? all - before : 0;
}

/* If no thread is in the files, all is lost, though one may have the process's identity. */
static struct image_account own_account(bool is_lost)
{
    struct image_account account = {.process_cpu = process_cpu_time(),
                                    .children_cpu =
                                        process_is_restricted() ? 0 : cpu_of_children()};
    if (!is_lost)
        return account;
    if (file_failures(&account.error) == 0)
        account.error = -ENOMEM;
    account.loss = flush_totals()->threads > 0 ? LOSS_PART : LOSS_ALL;
    return account;
}

/* Whether hpcprof counts this process as one whose data is lost: by the list of processes, or by what its
 * parent knows. Its own children are known to it alone. */
static bool is_counted(bool is_noted)
{
    return is_noted || (process.origin == ORIGIN_FORK && notes_pending()->length == 0);
}

/* Children leave standard error alone, if possible. */
static void report_write_failure(const struct image_account *account, bool is_noted)
{
    struct text line = TEXT(text_buffer);
    if (account->loss == LOSS_NONE)
        return;
    text_add(&line, measurement_path());
    text_add(&line, ": ");
    text_add_error(&line, account->error);
    text_add(&line, account->loss == LOSS_PART ? ": a part of the measurement could not be written"
                                               : ": the measurement could not be written");
    if (process.pid == process.config.launched_pid || !is_counted(is_noted))
        report_error(&line);
    else
        report_log(&line);
}

static void report_too_many_modules(void)
{
    struct text line = TEXT(text_buffer);
    if (!modules_overflowed())
        return;
    text_add(&line, "more than ");
    text_add_number(&line, modules_end() - INSTANCE_FIRST);
    text_add(&line, " libraries came and went: the code of later ones has no names");
    report_loss(&line);
}

/* If no thread could open the event, the summary says so itself. */
static void report_refused(unsigned event)
{
    struct text line = TEXT(text_buffer);
    const struct event *its = &process.config.events[event];
    uint32_t count = sources_refused(event);
    if (count == 0 || flush_totals()->sources[event] == 1)
        return;
    text_add_number(&line, count);
    text_add(&line, count == 1 ? " thread has no samples of " : " threads have no samples of ");
    text_add(&line, its->name);
    text_add(&line, its->kind == EVENT_COUNTER
                        ? ": perf_event_open failed"
                        : ": their timers would take too many of the signals that the program "
                          "can queue (RLIMIT_SIGPENDING)");
    report_loss(&line);
}

static void report_missing_frames(void)
{
    struct text line = TEXT(text_buffer);
    uint32_t count = kernel_frames_refused(), in_handlers = kernel_frames_in_handlers();
    if (in_handlers) {
        text_add_number(&line, in_handlers);
        text_add(&line, " samples have no kernel frames: the kernel was at work for hpcrun itself");
        report_log(&line);
        line = TEXT(text_buffer);
    }
    if (count == 0)
        return;
    text_add_number(&line, count);
    text_add(&line, count == 1 ? " thread has" : " threads have");
    text_add(&line, " no kernel frames: they need more locked memory (ulimit -l; kernel.perf_event_mlock_kb)");
    report_loss(&line);
}

/* "app[77] rank 3" */
static void add_subject(struct text *line)
{
    const char *program = process_arguments()[0] ? process_arguments()[0] : process.executable;
    text_add_bytes(line, program, strnlen(program, 200));
    text_add(line, "[");
    text_add_number(line, (uint64_t)process.pid);
    text_add(line, "]");
    if (process.rank == NO_RANK)
        return;
    text_add(line, " rank ");
    text_add_number(line, (uint64_t)process.rank);
}

static void add_counts(struct text *line, const struct image_counts *counts, uint64_t children_cpu)
{
    text_add(line, ": ");
    for (unsigned i = 0; i < process.config.event_count; i++) {
        if (i > 0)
            text_add(line, ", ");
        add_event(line, i, counts);
    }
    add_life(line, counts);
    add_losses(line, counts);
    add_children(line, children_cpu);
}

/* Of a parallel job, whose ranks may have a launcher each, rank 0 prints its line. */
static void print_summary(struct text *line)
{
    if (process.config.quiet || process.pid != process.config.launched_pid || process.rank > 0)
        return;
    text_add(line, " -> ");
    text_add(line, process.config.directory);
    report_terminal(line);
}

/* Lines about children that are in no list: hpcprof will not know of them. */
static void report_unlisted(void)
{
    struct text line = TEXT(text_buffer);
    const struct text *pending = notes_pending();
    uint64_t count = 0;
    for (size_t i = 0; i < pending->length; i++)
        count += pending->at[i] == '\n';
    if (count == 0)
        return;
    text_add_number(&line, count);
    text_add(&line, count == 1 ? " child is" : " children are");
    text_add(&line, " missing in the list of processes: ");
    text_add_error(&line, notes_pending_error());
    report_loss(&line);
}

void summarize(enum process_state state, int detail, bool continues, bool is_lost)
{
    struct text line = TEXT(text_buffer);
    struct image_counts counts = own_counts();
    struct image_account account = own_account(is_lost);
    report_write_failure(&account, note_end(state, detail, &account));
    report_unlisted();
    report_too_many_modules();
    for (unsigned event = 0; event < process.config.event_count; event++)
        report_refused(event);
    report_missing_frames();
    add_subject(&line);
    add_counts(&line, &counts, account.children_cpu);
    report_log(&line);
    if (!continues)
        print_summary(&line);
}
