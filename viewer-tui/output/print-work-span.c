/* Work, span and the speedups that they allow, in the summary: as measured, and after each change
 * that the user asked about (--what-if). */
#include "viewer-tui/output/run-summary.h"

#include "lib/diag.h"
#include "viewer-tui/db/run.h"

#include <math.h>

bool summary_take_changes(struct summary *summary, const speed_change_list *changes)
{
    struct work_span *of = &summary->work_span;
    const char *folder = summary->db->folder;
    if (!work_span_of(summary->view, of)) {
        const struct metrics *metrics = &summary->db->metrics;
        size_t work = metrics_find(metrics, "exact work");
        const char *why = work < metrics->n ? metrics->at[work].why : NULL;
        *of = (struct work_span){0};
        if (changes && changes->n)
            diag_error(folder, "--what-if needs work and span, %s%s",
                       why ? "and the work is not exact: " : "which hpcrun --work-span measures", why ? why : "");
        return !changes || changes->n == 0;
    }
    for (size_t i = 0; changes && i < changes->n; i++) {
        const struct speed_change *change = &changes->at[i];
        struct what_if costs;
        autofree struct text names = {0};
        if (!what_if_costs(summary->view, of, change->procedure, NOTHING, &costs)) {
            what_if_list_procedures(summary->view, of, &names);
            diag_error(folder, "--what-if: no spawned procedure is called '%s'; there are: %s",
                       change->procedure, text_string(&names));
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
    bool is_exact = !of->why_lower_bound;
    return (struct predicted){
        .work = of->work,
        .span = {of->span, is_exact ? of->span : INFINITY},
        .burdened_span = {of->burdened_span, is_exact ? of->burdened_span : INFINITY},
        .parallelism = {is_exact ? parallelism : 0, parallelism}};
}

/* ---- text ---- */

/* A duration, or a number if `unit` is NULL. */
static void add_value(struct text *text, double value, const char *unit)
{
    if (unit)
        text_add(text, number_with_unit(value, unit).text);
    else
        text_printf(text, "%.2f", value);
}

/* Whether both are shown as the same number. */
static bool is_exact(const struct bounds *bounds)
{
    return isfinite(bounds->most) && !(bounds->most - bounds->least > 1e-9 * bounds->most);
}

/* One end of bounds, with a sign unless they are exact: of a time the lower one, of a ratio (`unit` NULL) the upper. */
static void add_bound(struct text *text, const struct bounds *bounds, const char *unit, bool ascii)
{
    double end = unit ? bounds->least : bounds->most;
    if (!isfinite(end)) {
        text_add(text, "no limit");
        return;
    }
    if (!is_exact(bounds) && unit)
        text_add(text, ascii ? ">= " : "≥ ");
    if (!is_exact(bounds) && !unit)
        text_add(text, ascii ? "<= " : "≤ ");
    add_value(text, end, unit);
}

/* "≥ 400.0 ms  span (was 700.0 ms); at most 700.0 ms: another path may become the longest" */
static void print_bounds(struct writer *writer, const struct bounds *bounds, const struct bounds *was, const char *unit,
                         const char *what)
{
    struct text *line = &writer->line;
    autofree struct text value = {0};
    add_bound(&value, bounds, unit, writer->ascii);
    text_add_right(line, text_string(&value), 14);
    text_printf(line, "  %s (was ", what);
    add_bound(line, was, unit, writer->ascii);
    text_add(line, ")");
    if (!is_exact(bounds) && unit && isfinite(bounds->most)) {
        text_add(line, "; at most ");
        add_value(line, bounds->most, unit);
        text_add(line, ": another path may become the longest");
    }
    if (!is_exact(bounds) && !unit && bounds->least > 0) {
        text_add(line, "; at least ");
        add_value(line, bounds->least, unit);
    }
    writer_end_line(writer);
}

/* "6.91 to 8.00", or "at most 8.00" if nothing is known about the least speedup */
static void add_speedup(struct text *line, const struct bounds *speedup)
{
    if (speedup->least > 0)
        text_printf(line, "%.2f to %.2f", speedup->least, speedup->most);
    else
        text_printf(line, "at most %.2f", speedup->most);
}

/* "         8 CPUs  6.91 to 8.00 times faster than one (was 5.20 to 5.49)". `before` NULL: without
 * the parentheses. */
static void print_speedups(struct writer *writer, const struct predicted *of,
                           const struct predicted *before)
{
    for (unsigned cpus = 2; cpus <= MOST_PROCESSORS; cpus *= 2) {
        struct bounds speedup = predicted_speedup(of, cpus);
        text_printf(&writer->line, "%10u CPUs  ", cpus);
        add_speedup(&writer->line, &speedup);
        text_add(&writer->line, " times faster than one");
        if (before) {
            struct bounds was = predicted_speedup(before, cpus);
            text_add(&writer->line, " (was ");
            add_speedup(&writer->line, &was);
            text_add(&writer->line, ")");
        }
        writer_end_line(writer);
    }
}

static void print_change(struct writer *writer, const struct summary_change *change,
                         const struct work_span *of)
{
    const struct predicted *predicted = &change->predicted, was = measured(of);
    const struct bounds work = {predicted->work, predicted->work}, work_was = {of->work, of->work};
    bool is_parallel = isinf(change->change->speed);
    autofree struct text heading = {0};
    text_say(&heading, writer->ascii, "What if %s", change->change->procedure);
    if (is_parallel)
        text_add(&heading, " were perfectly parallel");
    else
        text_printf(&heading, " ran %gx %s", fmax(change->change->speed, 1 / change->change->speed),
                    change->change->speed < 1 ? "slower" : "faster");
    writer_heading(writer, text_string(&heading));
    print_bounds(writer, &work, &work_was, "s", "work");
    print_bounds(writer, &predicted->span, &was.span, "s", "span");
    print_bounds(writer, &predicted->parallelism, &was.parallelism, NULL, "parallelism");
    print_speedups(writer, predicted, &was);
}

/* "      at most 8.66  parallelism: work / span", "8.66  parallelism: work / span (8.60 to 8.72)" */
static void print_ratio(struct writer *writer, const struct work_span *of, bool is_burdened,
                        const char *what)
{
    double ratio = of->work / (is_burdened ? of->burdened_span : of->span);
    struct parallelism interval = work_span_parallelism(of, is_burdened);
    autofree struct text text = {0};
    text_printf(&text, "%s%.2f", of->why_lower_bound ? "at most " : "", ratio);
    text_add_right(&writer->line, text_string(&text), 14);
    text_printf(&writer->line, "  %s", what);
    if (interval.most - interval.least >= 0.01)
        text_printf(&writer->line, " (%.2f to %.2f)", interval.least, interval.most);
    writer_end_line(writer);
}

void print_work_span_text(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    const struct work_span *of = &summary->work_span;
    const struct predicted was = measured(of);
    if (of->work == 0)
        return;
    writer_heading(writer, "Work and span");
    print_ratio(writer, of, false, "parallelism: work / span");
    print_ratio(writer, of, true, "burdened parallelism: work / burdened span");
    if (of->why_lower_bound) {
        text_add(&writer->line, "  the span is at least ");
        add_value(&writer->line, of->span, "s");
        writer_say_line(writer, ": %s", of->why_lower_bound);
    }
    writer_line(writer, "  creating and joining threads is in neither: it depends on their number");
    print_speedups(writer, &was, NULL);
    for (size_t i = 0; i < summary->what_ifs.n; i++)
        print_change(writer, &summary->what_ifs.at[i], of);
}

/* ---- the regions that the program names itself, as text ---- */

/* "at most" if the span is a lower bound. */
static void print_region(struct writer *writer, const json_t *region, const char *at_most)
{
    double work = run_number(region, "work"), span = run_number(region, "span");
    autofree struct text parallelism = {0};
    text_printf(&parallelism, "%s%.2f", at_most, span > 0 ? work / span : 0);
    text_add_right(&writer->line, text_string(&parallelism), 14);
    text_printf(&writer->line, "%12.3f%12.3f%12.3f%9.0f  ", 1e3 * work, 1e3 * span,
                1e3 * run_number(region, "burdened_span"), run_number(region, "times"));
    writer_say(writer, "%s", run_text(region, "name"));
    if (json_is_true(json_object_get(region, "partial")))
        text_add(&writer->line, " (a part of it is not measured)");
    writer_end_line(writer);
}

void print_regions_text(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    const json_t *regions = json_object_get(summary->run, "regions");
    const char *at_most = summary->work_span.why_lower_bound ? "at most " : "";
    if (json_array_size(regions) == 0)
        return;
    writer_heading(writer, "Regions that the program names");
    writer_line(writer, "%14s%12s%12s%12s%9s  %s", "parallelism", "work, ms", "span, ms",
                "burdened", "times", "region");
    json_each (region, regions)
        print_region(writer, region, at_most);
}

/* ---- JSON ---- */

/* A lower bound of 0 of a speedup or a parallelism is null: nothing is known. So are bounds that are not finite. */
static double known_least(const struct bounds *bounds)
{
    return bounds->least > 0 ? bounds->least : NAN;
}

static void put_speedups(struct json_writer *json, const struct predicted *of)
{
    json_print(json, "speedups:[");
    for (unsigned cpus = 2; cpus <= MOST_PROCESSORS; cpus *= 2) {
        struct bounds speedup = predicted_speedup(of, cpus);
        json_print(json, "{cpus:%u at_least:%g at_most:%g}", cpus, known_least(&speedup), speedup.most);
    }
    json_print(json, "]");
}

static void put_change(struct json_writer *json, const struct summary_change *change)
{
    const struct predicted *of = &change->predicted;
    autofree char *speed = isinf(change->change->speed) ? mem_strdup("parallel") : mem_printf("%gx", change->change->speed);
    json_print(json, "\n{procedure:%s change:%s work:%g", change->change->procedure, speed, of->work);
    json_print(json, "span:{at_least:%g at_most:%g} burdened_span:{at_least:%g at_most:%g}", of->span.least,
               of->span.most, of->burdened_span.least, of->burdened_span.most);
    json_print(json, "parallelism:{at_least:%g at_most:%g}", known_least(&of->parallelism), of->parallelism.most);
    put_speedups(json, of);
    json_print(json, "}");
}

void print_work_span_json(struct summary *summary)
{
    struct json_writer *json = &summary->writer.json;
    const struct work_span *of = &summary->work_span;
    const struct predicted was = measured(of);
    if (of->work == 0)
        return;
    json_print(json, "work_span:{work:%g state:%s", of->work, of->why_lower_bound ? "lower bound" : "measured");
    if (of->why_lower_bound)
        json_print(json, "why:%s", of->why_lower_bound);
    json_print(json, "span:%g burdened_span:%g parallelism:%g burdened_parallelism:%g", of->span, of->burdened_span,
               of->work / of->span, of->work / of->burdened_span);
    json_put_errors(json, of);
    put_speedups(json, &was);
    json_print(json, "}");
    if (summary->what_ifs.n == 0)
        return;
    json_print(json, "what_if:[");
    for (size_t i = 0; i < summary->what_ifs.n; i++)
        put_change(json, &summary->what_ifs.at[i]);
    json_print(json, "]");
}
