/* The metrics of a summary: a line each, with the total and what it means; those without values in one
 * footnote.
 *
 *            1.001 s   69.6%  work        the program's code
 *           0.4380 s   30.4%  idleness    other workers had nothing to do meanwhile
 *       0: lock wait. Not measured (reasons are below): overhead. */
#include "viewer-tui/output/run-summary.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/table/columns.h"

#include <math.h>
#include <string.h>

#define TOTAL_WIDTH 14

/* Whether the metric has a line: it has a value, or the user named it. */
static bool has_line(const struct summary *summary, size_t m)
{
    const struct metric *metric = &summary->db->metrics.at[m];
    if (metric->is_asked_for || metric_derivation(metric))
        return true;
    return metric_is_measured(metric) && view_total(summary->view, m) != 0 && !metric->repeats_work;
}

/* The part of a metric's kinds of overhead, "5.2% spawn, 1.0% steal", the interval of its error, and
 * why it is not simply measured. */
static void add_remarks(struct summary *summary, size_t m)
{
    struct writer *writer = &summary->writer;
    const struct metric *metric = &summary->db->metrics.at[m];
    struct overhead_kinds kinds = overhead_kinds_of(summary->view, 0, m, INCLUSIVE);
    autofree struct text words = {0};
    overhead_kinds_describe(&kinds, summary_effort(summary, m), writer->ascii, &words);
    text_printf(&writer->line, "%s%s", words.n ? ": " : "", text_string(&words));
    double value = view_total(summary->view, m);
    struct number_text low = number_with_unit(fmax(value - metric->error, 0), metric->unit);
    struct number_text high = number_with_unit(value + metric->error, metric->unit);
    if (metric->error > 0 && strcmp(low.text, high.text) != 0) /* unless both ends are the value as it is shown */
        text_printf(&writer->line, " (%s to %s)", low.text, high.text);
    if (metric->state == METRIC_MEASURED)
        return;
    writer_say(writer, "%s%s: %s", metric_is_measured(metric) ? "; " : "", columns_state_words(metric), metric->why);
}

static void print_total(struct summary *summary, size_t m, size_t name_width, bool has_percent)
{
    struct writer *writer = &summary->writer;
    const struct metric *metric = &summary->db->metrics.at[m];
    const struct metric_kind *kind = metric_kind_of(metric->name);
    double value = view_total(summary->view, m);
    struct number_text percent = {""};
    text_add_right(&writer->line, columns_with_unit(summary->view, m, value).text, TOTAL_WIDTH);
    if (metric_is_of_effort(metric))
        percent = columns_percent(metric, value, summary_effort(summary, m));
    if (has_percent) {
        text_add_right(&writer->line, percent.text, PERCENT_WIDTH + 1);
        text_add(&writer->line, *percent.text ? "%" : " ");
    }
    writer_say(writer, "  %s", metric->name);
    size_t used = text_columns(metric->name);
    text_pad(&writer->line, ' ', 2 + (name_width > used ? name_width - used : 0));
    if (metric_derivation(metric))
        writer_say(writer, "= %s", derived_formula(metric));
    else if (metric->kind.name)
        text_add(&writer->line, "a part of overhead");
    else if (kind && metric_is_measured(metric))
        text_add(&writer->line, kind->meaning);
    add_remarks(summary, m);
    text_trim(&writer->line);
    writer_end_line(writer);
}

/* A lower bound of 0 says nothing either. */
static bool is_unmeasured(const struct summary *summary, size_t m)
{
    return summary->db->metrics.at[m].state != METRIC_MEASURED && !has_line(summary, m);
}

static bool is_zero(const struct summary *summary, size_t m)
{
    const struct metric *metric = &summary->db->metrics.at[m];
    return metric->state == METRIC_MEASURED && !metric->repeats_work && !has_line(summary, m);
}

/* Adds a title and the names of some metrics. */
static void add_names(const struct summary *summary, const char *title,
                      bool (*is_one)(const struct summary *, size_t), struct text *out)
{
    const struct metrics *metrics = &summary->db->metrics;
    const char *before = title;
    metrics_each (m, metrics, metrics_shown)
        if (is_one(summary, m)) {
            text_say(out, summary->writer.ascii, "%s%s", before, metrics->at[m].name);
            before = ", ";
        }
    text_add(out, before == title ? "" : ". ");
}

/* The first metric, from m on, that was not measured for a reason; metrics.n: none. */
static size_t unmeasured_from(const struct summary *summary, size_t m, const char *why)
{
    const struct metrics *metrics = &summary->db->metrics;
    for (m = metrics_shown(metrics, m); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (is_unmeasured(summary, m) && strcmp(metrics->at[m].why, why) == 0)
            break;
    return m;
}

/* A line for each reason, with the metrics that have it. */
void print_unmeasured_metrics(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    const struct metrics *metrics = &summary->db->metrics;
    bool has_heading = false;
    metrics_each (m, metrics, metrics_shown) {
        const char *why = metrics->at[m].why;
        if (!is_unmeasured(summary, m) || unmeasured_from(summary, 0, why) < m)
            continue;
        if (!has_heading)
            writer_heading(writer, "Metrics that were not measured");
        has_heading = true;
        for (size_t same = m; same < metrics->n; same = unmeasured_from(summary, same + 1, why))
            writer_say(writer, "%s%s", same == m ? "  " : ", ", metrics->at[same].name);
        writer_say_line(writer, ": %s", why);
    }
}

void print_metric_totals(struct summary *summary)
{
    const struct metrics *metrics = &summary->db->metrics;
    struct writer *writer = &summary->writer;
    size_t width = 0;
    bool has_percent = false;
    metrics_each (m, metrics, metrics_shown) {
        size_t columns = text_columns(metrics->at[m].name);
        width = has_line(summary, m) && columns > width ? columns : width;
        has_percent |= has_line(summary, m) && metric_is_of_effort(&metrics->at[m]);
    }
    writer_heading(writer, has_percent ? "Metrics, and their shares of the effort" : "Metrics");
    metrics_each (m, metrics, metrics_shown)
        if (has_line(summary, m))
            print_total(summary, m, width, has_percent);
    autofree struct text note = {0}, piece = {0};
    add_names(summary, "0: ", is_zero, &note);
    add_names(summary, "Not measured (reasons are below): ", is_unmeasured, &note);
    const char *rest = text_string(&note);
    while (*rest && text_take_line(&rest, writer->width - 2, &piece))
        writer_line(writer, "  %s", text_string(&piece));
}
