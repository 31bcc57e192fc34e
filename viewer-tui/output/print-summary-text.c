/* The summary as text for people who have never seen it: what was measured and how, what became of
 * the samples, the processes, and what went wrong. */
#include "viewer-tui/output/run-summary.h"

#include "lib/number.h"
#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/output/columns.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/tree/describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct printing {
    const struct summary *summary;
    bool ascii, hosts_differ;
    struct text line;
};

static void end_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->summary->out);
}

static void add_clean(struct printing *printing, const char *text)
{
    text_add_clean(&printing->line, text, printing->ascii);
}

static void add_value(struct printing *printing, double value, const char *unit)
{
    char text[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(value, unit, text);
    text_add(&printing->line, text);
}

static void add_count(struct printing *printing, double count, const char *what)
{
    char text[NUMBER_SIZE];
    number_grouped(count > 0 ? (uint64_t)count : 0, text);
    bool is_plural = count != 1;
    text_printf(&printing->line, "%s %s%s%s", text, what,
                is_plural && what[strlen(what) - 1] == 's' ? "e" : "", is_plural ? "s" : "");
}

static void print_title(struct printing *printing)
{
    const struct summary *summary = printing->summary;
    add_clean(printing, summary->title);
    text_add(&printing->line, ": ");
    size_t n_processes = json_array_size(json_object_get(summary->run, "processes"));
    if (n_processes) {
        add_count(printing, (double)n_processes, "process");
        text_add(&printing->line, ", ");
    }
    add_count(printing, (double)summary->n_threads, "thread");
    end_line(printing);
    if (!summary->run) {
        text_add(&printing->line, "The database was not made by this hpcprof: "
                                  "it says nothing about samples and processes.");
        end_line(printing);
    }
}

static void add_percent_of_effort(struct printing *printing, size_t metric)
{
    const struct summary *summary = printing->summary;
    char percent[NUMBER_SIZE];
    columns_percent(&summary->db->metrics.at[metric], view_total(summary->view, metric),
                    summary_effort(summary, metric), percent);
    if (*percent)
        text_printf(&printing->line, ", %s%% of effort", percent);
}

/* ": 15.0% spawn, 6.0% sync" behind overhead. */
static void add_kinds(struct printing *printing, size_t metric)
{
    const struct summary *summary = printing->summary;
    struct overhead_kinds kinds = overhead_kinds_of(summary->view, 0, metric, INCLUSIVE);
    struct text text = {0};
    overhead_kinds_describe(&kinds, summary_effort(summary, metric), printing->ascii, &text);
    if (text.n)
        text_printf(&printing->line, ": %s", text_string(&text));
    vec_free(&text);
}

static void print_metrics(struct printing *printing)
{
    const struct metrics *metrics = &printing->summary->db->metrics;
    const struct view *view = printing->summary->view;
    end_line(printing);
    text_add(&printing->line, "Metrics");
    end_line(printing);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        char total[NUMBER_WITH_UNIT_SIZE];
        if (metric->repeats_work && !metric->is_asked_for)
            continue;
        columns_with_unit(view, m, view_total(view, m), total);
        text_add_right(&printing->line, total, 14);
        text_add(&printing->line, "  ");
        add_clean(printing, metric->name);
        if (metric_is_of_effort(metric) && !metric_is_sum(metric))
            add_percent_of_effort(printing, m);
        add_kinds(printing, m);
        if (metric->derivation) {
            text_add(&printing->line, " = ");
            add_clean(printing, derived_formula(metric));
        }
        if (metric->state != METRIC_MEASURED) {
            text_printf(&printing->line, "%s%s: ", metric_is_measured(metric) ? "; " : ": ",
                        columns_state_words(metric));
            add_clean(printing, metric->why);
        }
        end_line(printing);
    }
}

static void print_advice(struct printing *printing)
{
    const struct summary *summary = printing->summary;
    bool is_narrow = summary->width && summary->width < ADVICE_WIDTH;
    struct advice_lines lines = {.width = is_narrow ? summary->width : ADVICE_WIDTH,
                                 .ascii = printing->ascii};
    advice_describe_shortly(&summary->advice, &lines);
    advice_lines_print(&lines, summary->out);
    advice_lines_free(&lines);
}

/* "CPUTIME, a sample each 5.000 ms: 199.9 per second by perf task-clock" */
static void print_event_head(struct printing *printing, const struct event_fates *event)
{
    text_add(&printing->line, "  ");
    add_clean(printing, event->event);
    if (event->period > 0) {
        text_add(&printing->line, ", a sample each ");
        add_value(printing, event->period, event->unit);
    }
    if (event->wanted_rate > 0)
        text_printf(&printing->line, ", %.0f samples per second of CPU time", event->wanted_rate);
    if (event->rate > 0)
        text_printf(&printing->line, "; %.1f per second were taken", event->rate);
    end_line(printing);
    for (size_t i = 0; i < event->sources.n; i++) {
        const struct source_use *use = &event->sources.at[i];
        text_add(&printing->line, "    source: ");
        add_clean(printing, use->source);
        text_add(&printing->line, ", in ");
        add_count(printing, (double)use->threads, "thread");
        if (*use->note) {
            text_add(&printing->line, " (");
            add_clean(printing, use->note);
            text_add(&printing->line, ")");
        }
        end_line(printing);
    }
}

static void print_fate(struct printing *printing, const struct event_fates *event,
                       const struct fate_total *fate, double fired)
{
    char count[NUMBER_SIZE], amount[NUMBER_WITH_UNIT_SIZE], percent[NUMBER_SIZE];
    number_grouped(fate->count, count);
    number_with_unit(fate->amount, event->unit, amount);
    number_percent(fate->amount, fired, percent);
    text_printf(&printing->line, "%12s%12s%7s%s  ", count, amount, percent, percent[0] ? "%" : " ");
    add_clean(printing, fate->name);
    const char *meaning = fate_meaning(fate->name);
    if (meaning)
        text_printf(&printing->line, ": %s", meaning);
    end_line(printing);
}

static double amount_fired(const struct event_fates *event)
{
    for (size_t i = 0; i < event->fates.n; i++)
        if (strcmp(event->fates.at[i].name, "fired") == 0)
            return event->fates.at[i].amount;
    return 0;
}

static void print_events(struct printing *printing)
{
    const struct fates *fates = &printing->summary->fates;
    if (fates->events.n == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Samples");
    end_line(printing);
    for (size_t e = 0; e < fates->events.n; e++) {
        const struct event_fates *event = &fates->events.at[e];
        print_event_head(printing, event);
        for (size_t i = 0; i < event->fates.n; i++)
            print_fate(printing, event, &event->fates.at[i], amount_fired(event));
    }
}

/* How a process ended, and how many workers its runtime had where an agent told. */
static void add_end(struct printing *printing, const json_t *process)
{
    const char *state = run_text(process, "state");
    if (strcmp(state, "signal") == 0)
        text_printf(&printing->line, "signal %.0f", run_number(process, "signal"));
    else if (strcmp(state, "killed") == 0)
        text_printf(&printing->line, "killed by signal %.0f", run_number(process, "signal"));
    else if (strcmp(state, "unknown") == 0)
        text_add(&printing->line, "end unknown: killed, or by a bare system call");
    else
        add_clean(printing, state);
    if (json_is_number(json_object_get(process, "data_until")))
        text_printf(&printing->line, ": data until %.1f s, at most the last %.1f s are missing",
                    run_number(process, "data_until"), run_number(process, "missing_at_most"));
    if (json_is_false(json_object_get(process, "complete")))
        text_add(&printing->line, ", file incomplete");
    if (json_is_integer(json_object_get(process, "workers"))) {
        text_add(&printing->line, "; ");
        add_count(printing, run_number(process, "workers"), "worker");
    }
}

static void print_process(struct printing *printing, const json_t *process)
{
    double dropped = summary_sum(json_object_get(process, "dropped"));
    double partial = summary_sum(json_object_get(process, "partial"));
    text_printf(&printing->line, "%9.0f%9zu%11.3f%11.3f%9.3f%11.0f%9.0f%9.0f  ",
                run_number(process, "pid"), json_array_size(json_object_get(process, "threads")),
                run_number(process, "wall"), run_number(process, "cpu"),
                run_number(process, "startup_cpu"), run_number(process, "samples"), dropped,
                partial);
    run_add_place(process, printing->hosts_differ, printing->ascii, &printing->line);
    add_clean(printing, run_text(process, "command"));
    text_add(&printing->line, "  [");
    add_end(printing, process);
    text_add(&printing->line, "]");
    end_line(printing);
}

/* Shares of a process's CPU time and seconds from which on it is worth a line. */
#define UNSAMPLED_SHARE   0.01
#define UNSAMPLED_SECONDS 0.01

/* Threads that hpcrun does not know have no samples. */
static void print_unsampled(struct printing *printing, const json_t *process)
{
    double unsampled = run_number(process, "unsampled_cpu"), cpu = run_number(process, "cpu");
    char percent[NUMBER_SIZE];
    if (unsampled < UNSAMPLED_SECONDS || unsampled < UNSAMPLED_SHARE * cpu)
        return;
    number_percent(unsampled, cpu, percent);
    text_printf(&printing->line, "  process %.0f: ", run_number(process, "pid"));
    add_value(printing, unsampled, "s");
    text_printf(&printing->line,
                " of CPU time (%s%%) without samples: in threads not made by pthread_create or "
                "thrd_create, or as threads began and ended",
                percent);
    end_line(printing);
}

static void print_processes(struct printing *printing)
{
    const json_t *processes = json_object_get(printing->summary->run, "processes");
    size_t i;
    json_t *process;
    if (json_array_size(processes) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Processes");
    end_line(printing);
    text_printf(&printing->line, "%9s%9s%11s%11s%9s%11s%9s%9s  %s", "process", "threads", "wall, s",
                "CPU, s", "start-up", "samples", "dropped", "partial", "command [end]");
    end_line(printing);
    json_array_foreach(processes, i, process)
    {
        print_process(printing, process);
    }
    json_array_foreach(processes, i, process)
    {
        print_unsampled(printing, process);
    }
    text_add(&printing->line, "  start-up: CPU seconds before sampling began; partial: call paths "
                              "whose beginning is lost");
    end_line(printing);
}

/* Programs of the run of which there is no data, by reason. */
static void print_unmeasured(struct printing *printing)
{
    const json_t *reasons = json_object_get(printing->summary->run, "unmeasured");
    size_t i, k;
    json_t *reason, *program;
    if (json_array_size(reasons) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Not measured");
    end_line(printing);
    json_array_foreach(reasons, i, reason)
    {
        text_printf(&printing->line, "%14.0f  ", run_number(reason, "count"));
        add_clean(printing, run_text(reason, "reason"));
        json_array_foreach(json_object_get(reason, "programs"), k, program)
        {
            const char *name = json_string_value(program);
            text_add(&printing->line, k ? ", " : ": ");
            add_clean(printing, name ? name : "");
        }
        end_line(printing);
    }
}

/* "Modules: 3 full, 1 symbols", and those about which something is to be said. */
static void print_modules(struct printing *printing)
{
    const json_t *modules = json_object_get(printing->summary->run, "modules");
    static const char *const words[][2] = {{"full", "with source lines"},
                                           {"symbols", "with names of procedures only"},
                                           {"none", "about which nothing is known"}};
    size_t i, w;
    json_t *module;
    if (json_array_size(modules) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Binaries");
    end_line(printing);
    for (w = 0; w < sizeof words / sizeof *words; w++) {
        double count = 0;
        json_array_foreach(modules, i, module)
        {
            count += strcmp(run_text(module, "structure"), words[w][0]) == 0;
        }
        if (count == 0)
            continue;
        text_printf(&printing->line, "%14.0f  %s", count, words[w][1]);
        end_line(printing);
    }
    json_array_foreach(modules, i, module)
    {
        if (!*run_text(module, "why"))
            continue;
        text_add(&printing->line, "                ");
        add_clean(printing, run_text(module, "path"));
        text_add(&printing->line, ": ");
        add_clean(printing, run_text(module, "why"));
        end_line(printing);
    }
}

static void print_agents(struct printing *printing)
{
    const json_t *agents = json_object_get(printing->summary->run, "agents");
    size_t i;
    json_t *agent;
    if (json_array_size(agents) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Runtimes with an agent");
    end_line(printing);
    json_array_foreach(agents, i, agent)
    {
        text_add(&printing->line, "  ");
        add_clean(printing, run_text(agent, "name"));
        text_add(&printing->line, " ");
        add_clean(printing, run_text(agent, "version"));
        end_line(printing);
    }
}

/* "  cilk5: the runtime was stripped" */
static void print_refusals(struct printing *printing)
{
    const json_t *refusals = json_object_get(printing->summary->run, "refused_agents");
    size_t i;
    json_t *refusal;
    if (json_array_size(refusals) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Agents that took no part: call paths are native");
    end_line(printing);
    json_array_foreach(refusals, i, refusal)
    {
        text_add(&printing->line, "  ");
        add_clean(printing, run_text(refusal, "name"));
        text_add(&printing->line, ": ");
        add_clean(printing, run_text(refusal, "why"));
        end_line(printing);
    }
}

static void print_problems(struct printing *printing)
{
    const json_t *problems = json_object_get(printing->summary->run, "problems");
    size_t i;
    json_t *problem;
    if (json_array_size(problems) == 0)
        return;
    end_line(printing);
    text_add(&printing->line, "Problems");
    end_line(printing);
    json_array_foreach(problems, i, problem)
    {
        text_add(&printing->line, "  ");
        const char *text = json_string_value(problem);
        add_clean(printing, text ? text : "");
        end_line(printing);
    }
}

void print_summary_text(const struct summary *summary)
{
    struct printing printing = {.summary = summary,
                                .ascii = describe_in_ascii(),
                                .hosts_differ = run_hosts_differ(summary->run)};
    print_title(&printing);
    print_metrics(&printing);
    print_advice(&printing);
    print_events(&printing);
    print_processes(&printing);
    print_unmeasured(&printing);
    print_modules(&printing);
    print_agents(&printing);
    print_refusals(&printing);
    print_problems(&printing);
    vec_free(&printing.line);
}
