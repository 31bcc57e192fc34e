/* Work, span and the speedups that they allow, in the summary: as measured, and after each change
 * that the user asked about (--what-if). */
#include "viewer-tui/output/run-summary.h"

#include "lib/diag.h"
#include "viewer-tui/db/spawn-dag.h"

#include <math.h>
#include <stdlib.h>

static void simulate(struct summary *summary)
{
    struct spawn_dag dag;
    if (spawn_dag_read(summary->db->folder, &dag) == DAG_READ)
        summary->simulated = simulated_speedups_of(&dag, MOST_PROCESSORS, NULL, 0);
    spawn_dag_free(&dag);
}

bool summary_take_changes(struct summary *summary, const speed_change_list *changes)
{
    struct work_span *of = &summary->work_span;
    const char *folder = summary->db->folder;
    if (!work_span_of(summary->view, of)) {
        *of = (struct work_span){0};
        if (changes && changes->n)
            diag_error(folder, "--what-if needs work and span, which hpcrun --work-span measures");
        return !changes || changes->n == 0;
    }
    simulate(summary);
    for (size_t i = 0; changes && i < changes->n; i++) {
        const struct speed_change *change = &changes->at[i];
        struct what_if costs;
        struct text names = {0};
        if (!what_if_costs(summary->view, of, change->procedure, NOTHING, &costs)) {
            what_if_list_procedures(summary->view, of, &names);
            diag_error(folder, "--what-if: no spawned procedure is called '%s'; there are: %s",
                       change->procedure, text_string(&names));
            vec_free(&names);
            vec_free(&summary->what_ifs);
            return false;
        }
        struct summary_change one = {change, what_if_predict(&costs, change->speed)};
        vec_push(&summary->what_ifs, one);
    }
    return true;
}

/* What was measured, in the form of what is predicted. */
static struct predicted measured(const struct work_span *of)
{
    double parallelism = of->work / of->span;
    return (struct predicted){.work = of->work,
                              .span = {of->span, of->span},
                              .burdened_span = {of->burdened_span, of->burdened_span},
                              .parallelism = {parallelism, parallelism}};
}

/* "2x", "parallel" */
static void add_speed(struct text *text, double speed)
{
    if (isinf(speed))
        text_add(text, "parallel");
    else
        text_printf(text, "%gx", speed);
}

/* ---- text ---- */

/* A duration, or a number if `unit` is NULL. */
static void add_value(struct text *text, double value, const char *unit)
{
    char number[NUMBER_WITH_UNIT_SIZE];
    if (!unit) {
        text_printf(text, "%.2f", value);
        return;
    }
    number_with_unit(value, unit, number);
    text_add(text, number);
}

/* Whether both are shown as the same number. */
static bool is_exact(const struct bounds *bounds)
{
    return !(bounds->most - bounds->least > 1e-9 * bounds->most);
}

/* "≥ 400.0 ms  span (was 700.0 ms); at most 700.0 ms: another path may become the longest".
 * `shows_least`: the line begins with the lower bound, and is about a span. */
static void print_bounds(struct writer *writer, const struct bounds *bounds, double was,
                         const char *unit, const char *what, bool shows_least)
{
    struct text *line = &writer->line, value = {0};
    double first = shows_least ? bounds->least : bounds->most;
    double other = shows_least ? bounds->most : bounds->least;
    if (!is_exact(bounds) && shows_least)
        text_add(&value, writer->ascii ? ">= " : "≥ ");
    if (!is_exact(bounds) && !shows_least && isfinite(first))
        text_add(&value, writer->ascii ? "<= " : "≤ ");
    if (isfinite(first))
        add_value(&value, first, unit);
    else
        text_add(&value, "no limit");
    text_add_right(line, text_string(&value), 14);
    text_printf(line, "  %s (was ", what);
    add_value(line, was, unit);
    text_add(line, ")");
    if (!is_exact(bounds)) {
        text_add(line, shows_least ? "; at most " : "; at least ");
        add_value(line, other, unit);
        text_add(line, shows_least ? ": another path may become the longest" : "");
    }
    writer_end_line(writer);
    vec_free(&value);
}

/* The simulated speedup with a number of processors; NAN if there is none. */
static double simulated_speedup(const struct simulated_speedups *simulated, unsigned cpus)
{
    const struct simulated_point *point = simulated ? simulated_point_of(simulated, cpus) : NULL;
    return point && point->time > 0 ? simulated->work / point->time : NAN;
}

/* "         8 CPUs  6.91 to 8.00 times faster than one (was 5.20 to 5.49)", or with "; simulated
 * 7.52". `before` and `simulated` may be NULL. */
static void print_speedups(struct writer *writer, const struct predicted *of,
                           const struct predicted *before,
                           const struct simulated_speedups *simulated)
{
    for (unsigned cpus = 2; cpus <= MOST_PROCESSORS; cpus *= 2) {
        struct bounds speedup = predicted_speedup(of, cpus);
        text_printf(&writer->line, "%10u CPUs  %.2f to %.2f times faster than one", cpus,
                    speedup.least, speedup.most);
        if (before) {
            struct bounds was = predicted_speedup(before, cpus);
            text_printf(&writer->line, " (was %.2f to %.2f)", was.least, was.most);
        }
        if (isfinite(simulated_speedup(simulated, cpus)))
            text_printf(&writer->line, "; simulated %.2f", simulated_speedup(simulated, cpus));
        writer_end_line(writer);
    }
}

static void print_change(struct writer *writer, const struct summary_change *change,
                         const struct work_span *of)
{
    const struct predicted *predicted = &change->predicted, was = measured(of);
    const struct bounds work = {predicted->work, predicted->work};
    bool is_parallel = isinf(change->change->speed);
    struct text heading = {0};
    text_add(&heading, "What if ");
    text_add_clean(&heading, change->change->procedure, writer->ascii);
    if (is_parallel)
        text_add(&heading, " were perfectly parallel");
    else
        text_printf(&heading, " ran %gx %s", fmax(change->change->speed, 1 / change->change->speed),
                    change->change->speed < 1 ? "slower" : "faster");
    writer_heading(writer, text_string(&heading));
    vec_free(&heading);
    print_bounds(writer, &work, of->work, "s", "work", true);
    print_bounds(writer, &predicted->span, of->span, "s", "span", true);
    print_bounds(writer, &predicted->parallelism, of->work / of->span, NULL, "parallelism", false);
    print_speedups(writer, predicted, &was, NULL);
}

void print_work_span_text(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    const struct work_span *of = &summary->work_span;
    const struct predicted was = measured(of);
    if (of->work == 0)
        return;
    writer_heading(writer, "Work and span");
    writer_line(writer, "%14.2f  parallelism: work / span", of->work / of->span);
    writer_line(writer, "%14.2f  burdened parallelism: work / burdened span",
                of->work / of->burdened_span);
    print_speedups(writer, &was, NULL, &summary->simulated);
    for (size_t i = 0; i < summary->what_ifs.n; i++)
        print_change(writer, &summary->what_ifs.at[i], of);
}

/* ---- JSON ---- */

/* An upper bound that is not finite is null: there is none. */
static void put_bounds(struct json_writer *json, const char *key, const struct bounds *bounds)
{
    json_put_object(json, key);
    json_put_number(json, "at_least", bounds->least);
    json_put_number(json, "at_most", bounds->most);
    json_write_object_end(json);
}

/* `simulated` may be NULL. */
static void put_speedups(struct json_writer *json, const struct predicted *of,
                         const struct simulated_speedups *simulated)
{
    json_put_array(json, "speedups");
    for (unsigned cpus = 2; cpus <= MOST_PROCESSORS; cpus *= 2) {
        struct bounds speedup = predicted_speedup(of, cpus);
        json_write_object(json);
        json_put_integer(json, "cpus", cpus);
        json_put_number(json, "at_least", speedup.least);
        json_put_number(json, "at_most", speedup.most);
        if (isfinite(simulated_speedup(simulated, cpus)))
            json_put_number(json, "simulated", simulated_speedup(simulated, cpus));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_change(struct json_writer *json, const struct summary_change *change)
{
    const struct predicted *predicted = &change->predicted;
    struct text speed = {0};
    add_speed(&speed, change->change->speed);
    json_write_break(json);
    json_write_object(json);
    json_write_text(json, "procedure", change->change->procedure);
    json_write_text(json, "change", text_string(&speed));
    json_put_number(json, "work", predicted->work);
    put_bounds(json, "span", &predicted->span);
    put_bounds(json, "burdened_span", &predicted->burdened_span);
    put_bounds(json, "parallelism", &predicted->parallelism);
    put_speedups(json, predicted, NULL);
    json_write_object_end(json);
    vec_free(&speed);
}

void print_work_span_json(struct summary *summary)
{
    struct json_writer *json = &summary->writer.json;
    const struct work_span *of = &summary->work_span;
    const struct predicted was = measured(of);
    if (of->work == 0)
        return;
    json_put_object(json, "work_span");
    json_put_number(json, "work", of->work);
    json_put_number(json, "span", of->span);
    json_put_number(json, "burdened_span", of->burdened_span);
    json_put_number(json, "parallelism", of->work / of->span);
    json_put_number(json, "burdened_parallelism", of->work / of->burdened_span);
    put_speedups(json, &was, &summary->simulated);
    json_write_object_end(json);
    if (summary->what_ifs.n == 0)
        return;
    json_put_array(json, "what_if");
    for (size_t i = 0; i < summary->what_ifs.n; i++)
        put_change(json, &summary->what_ifs.at[i]);
    json_write_array_end(json);
}

/* ---- CSV ---- */

/* Records with the subject "measured", or the change. */
static void add_records(struct writer *writer, const char *subject, const struct predicted *of)
{
    static const char section[] = "work and span";
    csv_fact_number(writer, section, subject, "work", of->work);
    csv_fact_number(writer, section, subject, "span at least", of->span.least);
    csv_fact_number(writer, section, subject, "span at most", of->span.most);
    csv_fact_number(writer, section, subject, "parallelism at least", of->parallelism.least);
    if (isfinite(of->parallelism.most))
        csv_fact_number(writer, section, subject, "parallelism at most", of->parallelism.most);
}

static void add_simulated_records(struct writer *writer, const struct simulated_speedups *simulated)
{
    char fact[64];
    for (size_t i = 0; i < simulated->points.n; i++) {
        unsigned cpus = simulated->points.at[i].workers;
        snprintf(fact, sizeof fact, "speedup with %u CPUs", cpus);
        csv_fact_number(writer, "work and span", "simulated", fact,
                        simulated_speedup(simulated, cpus));
    }
}

void print_work_span_csv(struct summary *summary)
{
    const struct predicted was = measured(&summary->work_span);
    struct text subject = {0};
    if (summary->work_span.work == 0)
        return;
    add_records(&summary->writer, "measured", &was);
    add_simulated_records(&summary->writer, &summary->simulated);
    for (size_t i = 0; i < summary->what_ifs.n; i++) {
        const struct summary_change *change = &summary->what_ifs.at[i];
        text_clear(&subject);
        text_printf(&subject, "%s ", change->change->procedure);
        add_speed(&subject, change->change->speed);
        add_records(&summary->writer, text_string(&subject), &change->predicted);
    }
    vec_free(&subject);
}
