#include "hpcprof/database/run-account.h"

#include "hpcprof/database/run-json-values.h"

#include "lib/diag.h"
#include "lib/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Most programs that are named for one reason. */
#define MAX_EXAMPLES 3

/* Less CPU time, in seconds, is not worth a number. A process that was measured in part also lacks its start,
 * its end and the time since its last sample. */
#define REPORTED_CPU         0.01
#define REPORTED_CPU_IN_PART 0.05

/* Nor is less of the total CPU time. */
#define REPORTED_SHARE 0.01

/* ---- what was measured ---- */

/* Sums over all processes. Times in seconds. */
struct run_sums {
    size_t processes, programs, ranks, threads; /* programs: each exec begins another one */
    double hidden; /* CPU time in the kernel that perf hides */
    double cpu, unsampled, thread_cpu, thread_wall; /* unsampled: that of unknown threads, before and after sampling */
    uint64_t dropped, partial;
};

/* Samples of an event. */
struct event_sums {
    uint64_t fired;
    uint64_t timed; /* those of threads whose times are known: the end of a file may be lost */
    uint32_t sources; /* set of enum sample_source, by bit */
};

static double cpu_of(const struct measurement *m)
{
    return seconds_between(m->process.cpu, measurement_last(m).cpu);
}

static bool is_reported(double cpu, double total)
{
    return cpu >= REPORTED_CPU && cpu >= total * REPORTED_SHARE;
}

static void add_fates(struct run_sums *sums, struct event_sums *events,
                      const struct measurement_file *file, const struct measurement_thread *thread)
{
    bool is_timed = thread->last_monotonic > thread->first_monotonic;
    for (size_t i = 0; i < thread->fates.n; i++) {
        const struct measurement_fate *fate = &thread->fates.at[i];
        sums->dropped += fate_drop_reason(fate->code) ? fate->count : 0;
        sums->partial += fate_partial_reason(fate->code) ? fate->count : 0;
        if (fate->code == FATE_KERNEL_UNATTRIBUTED)
            sums->hidden += seconds(fate->amount >> TIME_SHIFT);
        if (fate->event == MEASUREMENT_UNKNOWN)
            continue;
        struct event_sums *event = &events[file->event_of[fate->event]];
        event->fired += fate->code == FATE_FIRED ? fate->count : 0;
        event->timed += fate->code == FATE_FIRED && is_timed ? fate->count : 0;
        event->sources |= fate->source < 32 ? 1u << fate->source : 0;
    }
}

static void add_program(struct run_sums *sums, struct event_sums *events,
                        const struct measurement_file *file)
{
    const struct measurement *m = file->m;
    sums->ranks += m->process.origin == ORIGIN_LAUNCHED && m->process.rank >= 0;
    sums->threads += m->threads.n;
    sums->cpu += cpu_of(m);
    sums->unsampled += seconds_between(m->process.cpu, measurement_last_in_file(m).cpu);
    for (size_t i = 0; i < m->threads.n; i++) {
        const struct measurement_thread *thread = &m->threads.at[i];
        sums->thread_cpu += seconds_between(thread->first_cpu, thread->last_cpu);
        sums->unsampled -= seconds_between(thread->first_cpu, thread->last_cpu);
        sums->thread_wall += seconds_between(thread->first_monotonic, thread->last_monotonic);
        add_fates(sums, events, file, thread);
    }
}

static bool is_same_process(const struct measurement *x, const struct measurement *y)
{
    return is_same_host(x, y) && x->process.pid == y->process.pid &&
           x->process.start_time == y->process.start_time;
}

/* From the begin of the first process to the end of the last one, by the hosts' clocks. */
static double wall_time(const struct measurements *measurements)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        uint64_t life = measurement_last(m).monotonic - m->process.monotonic;
        begin = m->process.realtime < begin ? m->process.realtime : begin;
        end = m->process.realtime + life > end ? m->process.realtime + life : end;
    }
    return seconds_between(begin, end);
}

static void write_subject(FILE *out, const struct measurement_process *program,
                          const struct run_sums *sums)
{
    const char *name = program->arguments.n > 0 ? program->arguments.at[0] : program->executable;
    if (sums->ranks > 1)
        fprintf(out, "%zu ranks of %.200s", sums->ranks, name);
    else
        fprintf(out, "%.200s[%" PRIu64 "]", name, program->pid);
    if (sums->ranks == 1)
        fprintf(out, " rank %" PRId64, program->rank);
    if (sums->processes > (sums->ranks > 1 ? sums->ranks : 1))
        fprintf(out, ", %zu processes", sums->processes);
    else if (sums->processes == 1 && sums->programs > 1)
        fprintf(out, ", %zu programs", sums->programs);
}

/* "timers and perf task-clock and perf counter" */
static void write_sources(FILE *out, uint32_t set)
{
    const char *separator = "";
    if (set > 1)
        set &= ~1u; /* some threads could not open the event, but others could */
    for (unsigned source = 0; source < 32; source++)
        if (set >> source & 1) {
            const char *name = source_name(source);
            fprintf(out, "%s%s", separator, name ? name : "no source");
            separator = " and ";
        }
}

static void write_event(FILE *out, const struct event *event, const struct event_sums *samples,
                        const struct run_sums *sums)
{
    double clock = event->flags & EVENT_WALL_CLOCK ? sums->thread_wall : sums->thread_cpu;
    fprintf(out, "%" PRIu64 " sample%s of %s", samples->fired, samples->fired == 1 ? "" : "s",
            event->name);
    if (samples->sources == 0)
        return;
    fprintf(out, " (");
    write_sources(out, samples->sources);
    if (event->flags & EVENT_BY_RATE)
        fprintf(out, ", by rate");
    if ((event_is_time(event) || event->flags & EVENT_BY_RATE) && clock >= 0.001)
        fprintf(out, ", %.1f/s", (double)samples->timed / clock);
    fprintf(out, ")");
}

static void write_samples(FILE *out, const struct measurements *measurements,
                          const struct event_sums *events, const struct run_sums *sums)
{
    const char *separator = ": ";
    for (size_t i = 0; i < measurements->events.n; i++) {
        if (measurements->events.at[i].flags & EVENT_EXACT)
            continue;
        fprintf(out, "%s", separator);
        write_event(out, &measurements->events.at[i], &events[i], sums);
        separator = ", ";
    }
}

static void note_measured(const struct measurements *measurements,
                          const struct measurement_process *program, const struct run_sums *sums,
                          const struct event_sums *events)
{
    autofree char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write_subject(out, program, sums);
    write_samples(out, measurements, events, sums);
    fprintf(out,
            " in %.3f s CPU, %.3f s wall, %zu thread%s; %" PRIu64 " dropped, %" PRIu64
            " partial paths",
            sums->cpu, wall_time(measurements), sums->threads, sums->threads == 1 ? "" : "s",
            sums->dropped, sums->partial);
    if (is_reported(sums->unsampled, sums->cpu))
        fprintf(out, ", %.3f s CPU without samples", sums->unsampled);
    if (is_reported(sums->hidden, sums->cpu))
        fprintf(out, ", %.3f s CPU in the kernel without samples (kernel.perf_event_paranoid)", sums->hidden);
    fclose(out);
    diag_note(NULL, "%s", text);
}

/* ---- what was not ---- */

/* "2 statically linked (ld, gen; 1.520 s CPU)" */
static void write_reason(FILE *out, const struct unmeasured_programs *missing, bool in_part)
{
    bool has_cpu = missing->cpu >= (in_part ? REPORTED_CPU_IN_PART : REPORTED_CPU);
    size_t n = missing->programs.n;
    if (!missing->are_parents)
        fprintf(out, "%zu ", missing->count);
    fprintf(out, "%s", missing->reason);
    if (n == 0 && !has_cpu)
        return;
    for (size_t i = 0; i < n && i <= MAX_EXAMPLES; i++)
        fprintf(out, "%s%s", i ? ", " : " (",
                i < MAX_EXAMPLES ? path_base(missing->programs.at[i]) : "...");
    if (has_cpu)
        fprintf(out, "%s%.3f s CPU%s", n ? "; " : " (", missing->cpu, in_part ? " lost" : "");
    fprintf(out, ")");
}

static void write_reasons(FILE *out, const char *head, const struct unmeasured_list *list,
                          bool in_part)
{
    for (size_t i = 0; i < list->all.n; i++) {
        fprintf(out, "%s", i ? ", " : head);
        write_reason(out, &list->all.at[i], in_part);
    }
}

static void note_missing(const struct unmeasured_list *not_measured,
                         const struct unmeasured_list *in_part)
{
    autofree char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write_reasons(out, "not measured: ", not_measured, false);
    write_reasons(out, not_measured->all.n ? "; measured in part: " : "measured in part: ", in_part,
                  true);
    fclose(out);
    diag_note(NULL, "%s", text);
}

/* ---- together ---- */

void run_account_print(const struct analysis *analysis, const struct measurement *program)
{
    const struct measurements *measurements = analysis->measurements;
    struct unmeasured_list not_measured = process_ends_unmeasured(analysis->ends, analysis->measurements);
    struct unmeasured_list in_part = process_ends_in_part(analysis->ends, measurements);
    autofree struct event_sums *events = mem_alloc((measurements->events.n + 1) * sizeof *events);
    struct run_sums sums = {.programs = measurements->files.n};
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_file *file = &measurements->files.at[i];
        sums.processes += i == 0 || !is_same_process(file->m, file[-1].m);
        add_program(&sums, events, file);
    }
    bool is_complete = not_measured.all.n == 0 && in_part.all.n == 0;
    bool is_in_line_of_hpcrun = is_complete && sums.processes == 1 &&
                                !is_reported(sums.cpu - cpu_of(program), sums.cpu);
    if (process_ends_are_known(analysis->ends) && !is_in_line_of_hpcrun) {
        note_measured(measurements, &program->process, &sums, events);
        if (!is_complete)
            note_missing(&not_measured, &in_part);
    }
    unmeasured_list_free(&not_measured);
    unmeasured_list_free(&in_part);
}
