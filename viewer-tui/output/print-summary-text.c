/* The summary as text for readers who see one for the first time: the metrics, advice, the samples,
 * the processes, and what went wrong. */
#include "viewer-tui/output/run-summary.h"

#include "lib/measurement-format.h"
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/db/run.h"

#include <string.h>

/* CPU time without samples is reported from this share of a process's CPU time and this time on. */
#define UNSAMPLED_SHARE   0.01
#define UNSAMPLED_SECONDS 0.01

/* "3 processes" */
static void add_count(struct writer *writer, double count, const char *what)
{
    bool is_plural = count != 1;
    text_printf(&writer->line, "%s %s%s%s", number_grouped(count > 0 ? (uint64_t)count : 0).text, what,
                is_plural && what[strlen(what) - 1] == 's' ? "e" : "", is_plural ? "s" : "");
}

static void print_title(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    size_t n_processes = json_array_size(json_object_get(summary->run, "processes"));
    writer_run_line(writer, summary->session, summary->db);
    if (n_processes) {
        add_count(writer, (double)n_processes, "process");
        text_add(&writer->line, ", ");
    }
    add_count(writer, (double)summary->n_threads, "thread");
    writer_end_line(writer);
    if (!summary->run)
        writer_line(writer, "The database was not made by this hpcprof: "
                            "it says nothing about samples and processes.");
}

/* "CPUTIME, a sample each 5.000 ms; 199.9 per second were taken", and a line per source */
static void print_event_head(struct writer *writer, const struct event_fates *event)
{
    writer_say(writer, "  %s", event->event);
    if (event->period > 0)
        text_printf(&writer->line, ", a sample each %s", number_with_unit(event->period, event->unit).text);
    if (event->wanted_rate > 0)
        text_printf(&writer->line, ", %.0f samples per second of CPU time", event->wanted_rate);
    if (event->rate > 0)
        text_printf(&writer->line, "; %.1f per second were taken", event->rate);
    writer_end_line(writer);
    for (size_t i = 0; i < event->sources.n; i++) {
        const struct source_use *use = &event->sources.at[i];
        writer_say(writer, "    source: %s, in ", use->source);
        add_count(writer, (double)use->threads, "thread");
        if (*use->note)
            writer_say(writer, " (%s)", use->note);
        writer_end_line(writer);
    }
}

static void print_events(struct summary *summary)
{
    const struct fates *fates = &summary->fates;
    struct writer *writer = &summary->writer;
    if (fates->events.n)
        writer_heading(writer, "Samples");
    for (size_t e = 0; e < fates->events.n; e++) {
        const struct event_fates *event = &fates->events.at[e];
        double fired = 0;
        print_event_head(writer, event);
        for (size_t i = 0; i < event->fates.n; i++)
            fired = strcmp(event->fates.at[i].name, "fired") == 0 ? event->fates.at[i].amount : fired;
        for (size_t i = 0; i < event->fates.n; i++) {
            const struct fate_total *fate = &event->fates.at[i];
            const char *meaning = fate_meaning(fate->name);
            struct number_text percent = number_percent(fate->amount, fired);
            text_printf(&writer->line, "%12s%12s%7s%s", number_grouped(fate->count).text,
                        number_with_unit(fate->amount, event->unit).text, percent.text, *percent.text ? "%" : " ");
            writer_say(writer, "  %s", fate->name);
            writer_line(writer, "%s%s", meaning ? ": " : "", text_or_empty(meaning));
        }
    }
}

/* How a process ended, and the number of its runtime's workers if an agent knows it. */
static void add_end(struct writer *writer, const json_t *process)
{
    const char *state = run_text(process, "state");
    if (strcmp(state, "signal") == 0)
        text_printf(&writer->line, "signal %.0f", run_number(process, "signal"));
    else if (strcmp(state, "killed") == 0)
        text_printf(&writer->line, "killed by signal %.0f", run_number(process, "signal"));
    else if (strcmp(state, "running") == 0)
        text_add(&writer->line, "still running");
    else if (strcmp(state, "unknown") == 0)
        text_add(&writer->line, "end unknown: killed, or by a bare system call");
    else
        writer_say(writer, "%s", state);
    if (json_is_string(json_object_get(process, "write_error")))
        writer_say(writer, "; not all could be written: %s", run_text(process, "write_error"));
    if (run_number(process, "recovered") > 0)
        text_printf(&writer->line, ": recovered until %.1f s", run_number(process, "data_until"));
    else if (json_is_number(json_object_get(process, "data_until")))
        text_printf(&writer->line, ": data until %.1f s, at most the last %.1f s are missing",
                    run_number(process, "data_until"), run_number(process, "missing_at_most"));
    if (json_is_false(json_object_get(process, "complete")))
        text_add(&writer->line, ", file incomplete");
    if (json_is_integer(json_object_get(process, "workers"))) {
        text_add(&writer->line, "; ");
        add_count(writer, run_number(process, "workers"), "worker");
    }
}

static void print_process(struct writer *writer, const json_t *process, bool hosts_differ)
{
    text_printf(&writer->line, "%9.0f%9zu%11.3f%11.3f%9.3f%11.0f%9.0f%9.0f  ",
                run_number(process, "pid"), json_array_size(json_object_get(process, "threads")),
                run_number(process, "wall"), run_number(process, "cpu"),
                run_number(process, "startup_cpu"), run_number(process, "samples"),
                summary_sum(json_object_get(process, "dropped")),
                summary_sum(json_object_get(process, "partial")));
    run_add_place(process, hosts_differ, writer->ascii, &writer->line);
    writer_say(writer, "%s  [", run_text(process, "command"));
    add_end(writer, process);
    writer_line(writer, "]");
}

/* More lines of a kind would hide what follows. */
#define MOST_LINES 20

struct listed_process {
    const json_t *process;
    double cpu;
    size_t at; /* in the run */
};

/* By CPU time, the longest first; then in the order of the run. */
static int by_cpu(const void *left, const void *right)
{
    const struct listed_process *a = left, *b = right;
    return a->cpu != b->cpu ? (a->cpu < b->cpu) - (a->cpu > b->cpu) : (a->at > b->at) - (a->at < b->at);
}

static bool is_from_outside(const json_t *process)
{
    const char *outside = source_name(SOURCE_OUTSIDE);
    const json_t *thread = json_array_get(json_object_get(process, "threads"), 0);
    const char *source = run_text(json_array_get(json_object_get(thread, "events"), 0), "source");
    return strncmp(source, outside, strlen(outside)) == 0;
}

/* The CPU time of threads that hpcrun does not know: they have no samples. */
static void print_unsampled(struct writer *writer, const json_t *process)
{
    double unsampled = run_number(process, "unsampled_cpu"), cpu = run_number(process, "cpu");
    if (unsampled < UNSAMPLED_SECONDS || unsampled < UNSAMPLED_SHARE * cpu)
        return;
    writer_line(writer,
                "  process %.0f: %s of CPU time (%s%%) without samples: %s", run_number(process, "pid"),
                number_with_unit(unsampled, "s").text, number_percent(unsampled, cpu).text,
                is_from_outside(process)
                    ? "at the ends of threads, or in threads too short for a sample"
                    : "in threads not made by pthread_create or thrd_create, or as threads began and ended");
}

static void print_processes(struct summary *summary)
{
    const json_t *processes = json_object_get(summary->run, "processes");
    struct writer *writer = &summary->writer;
    bool hosts_differ = run_hosts_differ(summary->run);
    if (json_array_size(processes) == 0)
        return;
    writer_heading(writer, "Processes");
    writer_line(writer, "%9s%9s%11s%11s%9s%11s%9s%9s  %s", "process", "threads", "wall, s",
                "CPU, s", "start-up", "samples", "dropped", "partial", "command [end]");
    autofree VEC(struct listed_process) list = {0};
    json_each (process, processes)
        vec_push(&list, ((struct listed_process){process, run_number(process, "cpu"), process_at}));
    if (list.n > MOST_LINES)
        vec_sort(&list, by_cpu);
    for (size_t i = 0; i < list.n && i < MOST_LINES; i++)
        print_process(writer, list.at[i].process, hosts_differ);
    if (list.n > MOST_LINES)
        writer_line(writer, "  %zu more have %s of CPU time or less each: --format json has them", list.n - MOST_LINES,
                    number_with_unit(list.at[MOST_LINES].cpu, "s").text);
    for (size_t i = 0; i < list.n && i < MOST_LINES; i++)
        print_unsampled(writer, list.at[i].process);
    writer_line(writer, "  start-up: CPU seconds before sampling began; partial: call paths "
                        "whose beginning is lost");
}

/* ---- Lists of run.json ---- */

/* Less CPU time of programs without data is not worth a number. */
#define TOLD_SECONDS 0.01

/* "             3  static program: busybox, rescue; 1.520 s CPU time", why programs have no data */
static void print_unmeasured(struct writer *writer, const json_t *reason)
{
    const char *before = ": ";
    writer_say(writer, "%14.0f  %s", run_number(reason, "count"), run_text(reason, "reason"));
    json_each (program, json_object_get(reason, "programs")) {
        writer_say(writer, "%s%s", before, json_is_string(program) ? json_string_value(program) : "");
        before = ", ";
    }
    if (run_number(reason, "cpu") >= TOLD_SECONDS)
        text_printf(&writer->line, "; %.3f s CPU time", run_number(reason, "cpu"));
    writer_end_line(writer);
}

/* "                PATH: WHY", if there is something to say about a binary */
static void print_module(struct writer *writer, const json_t *module)
{
    if (!*run_text(module, "why"))
        return;
    text_pad(&writer->line, ' ', 16);
    writer_say_line(writer, "%s: %s", run_text(module, "path"), run_text(module, "why"));
}

/* "  cilk5: the runtime was stripped"; a version comes after the name, a reason after a colon; or just a text */
static void print_element(struct writer *writer, const json_t *element)
{
    const char *version = run_text(element, "version"), *why = run_text(element, "why");
    if (json_is_object(element))
        writer_say(writer, "  %s%s%s", run_text(element, "name"), *why ? ": " : " ", *why ? why : version);
    else
        writer_say(writer, "  %s", json_is_string(element) ? json_string_value(element) : "");
    writer_end_line(writer);
}

/* "             3  with source lines": the number of binaries by what is known about them */
static void print_module_counts(struct writer *writer, const json_t *modules)
{
    static const char *const words[][2] = {{"full", "with source lines"},
                                           {"symbols", "with names of procedures only"},
                                           {"none", "about which nothing is known"}};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        double count = 0;
        json_each (module, modules)
            count += strcmp(run_text(module, "structure"), words[w][0]) == 0;
        if (count > 0)
            writer_line(writer, "%14.0f  %s", count, words[w][1]);
    }
}

static void print_lists(struct summary *summary)
{
    static const struct {
        const char *key, *heading;
        void (*print)(struct writer *writer, const json_t *element);
    } lists[] = {
        {"unmeasured", "Not measured", print_unmeasured},
        {"modules", "Binaries", print_module},
        {"agents", "Runtimes with an agent", print_element},
        {"refused_agents", "Agents that took no part: call paths are native", print_element},
        {"problems", "Problems", print_element}};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const json_t *list = json_object_get(summary->run, lists[l].key);
        if (json_array_size(list))
            writer_heading(&summary->writer, lists[l].heading);
        if (lists[l].print == print_module)
            print_module_counts(&summary->writer, list);
        size_t n = 0;
        json_each (element, list)
            if (lists[l].print == print_module || n++ < MOST_LINES)
                lists[l].print(&summary->writer, element);
        if (n > MOST_LINES)
            writer_line(&summary->writer, "  %zu more: --format json has them", n - MOST_LINES);
    }
}

void print_summary_text(struct summary *summary)
{
    const struct writer *writer = &summary->writer;
    struct advice_lines lines = {.width = writer->width < ADVICE_WIDTH ? writer->width : ADVICE_WIDTH,
                                 .ascii = writer->ascii};
    print_title(summary);
    print_metric_totals(summary);
    print_work_span_text(summary);
    print_regions_text(summary);
    advice_describe(&summary->advice->findings, &lines);
    advice_lines_print(&lines, writer->out);
    print_events(summary);
    print_processes(summary);
    print_unmeasured_metrics(summary);
    print_lists(summary);
}
