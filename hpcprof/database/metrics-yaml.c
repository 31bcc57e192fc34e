#include "hpcprof/database/database-files.h"
#include "hpcprof/database/v4-file.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/metrics/metric-description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scopes that views use; point values are contained in them. */
static const enum propagation_scope shown[] = {PROPAGATE_EXECUTION, PROPAGATE_LEX_AWARE,
                                               PROPAGATE_FUNCTION};

/* Metrics of an event whose sum is its effort: work, overhead, idleness. */
#define EFFORT_PARTS 3

/* Writes a name as a double-quoted scalar. */
static void write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < ' ' || *p == 0x7f)
            fprintf(out, "\\x%02x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static void write_input(FILE *out, const struct metric_table *metrics, size_t metric,
                        const char *scope, const char *statistic, const char *formula,
                        const char *combine)
{
    fprintf(out, "  - &metric-%zu-%s%s\n    metric: ", metric, scope, statistic);
    write_quoted(out, metrics->all.at[metric].name);
    fprintf(out, "\n    scope: %s\n    formula: %s\n    combine: %s\n", scope, formula, combine);
}

static void write_inputs(FILE *out, const struct metric_table *metrics)
{
    static const char *const names[STORED_STATISTICS] = {
        [STORED_SQUARES] = "-squares", [STORED_MIN] = "-min", [STORED_MAX] = "-max"};
    static const char *const combines[STORED_STATISTICS] = {
        [STORED_SQUARES] = "sum", [STORED_MIN] = "min", [STORED_MAX] = "max"};
    enum stored_statistic stored[STORED_STATISTICS];
    size_t n_stored = statistics_stored(metrics->statistics, stored);
    for (size_t i = 0; i < metrics->all.n; i++)
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            const char *scope = propagation_names[shown[k]];
            write_input(out, metrics, i, scope, "", "$$", "sum");
            for (size_t s = 0; s < n_stored; s++)
                write_input(out, metrics, i, scope, names[stored[s]],
                            stored[s] == STORED_SQUARES ? "$$^2" : "$$", combines[stored[s]]);
        }
}

static size_t count_threads(const struct metric_table *metrics)
{
    size_t n = 0;
    for (size_t i = 0; i < metrics->measurements->files.n; i++)
        n += metrics->measurements->files.at[i].m->threads.n;
    return n ? n : 1;
}

/* A metric as viewers show it: one of the database, or the sum of several. */
struct shown_metric {
    const char *name;
    char *description;
    size_t parts[EFFORT_PARTS]; /* indices in metric_table.all */
    size_t n_parts;
    bool is_aside; /* viewers show it on request */
};

/* Writes the sum of the parts in a scope. HPCToolkit's viewer takes operators with two operands
 * only. */
static void write_sum(FILE *out, const struct shown_metric *shown, const char *scope)
{
    for (size_t i = 1; i < shown->n_parts; i++)
        fputs("{'+': [", out);
    for (size_t i = 0; i < shown->n_parts; i++)
        fprintf(out, "%s*metric-%zu-%s%s", i ? ", " : "", shown->parts[i], scope, i ? "]}" : "");
}

/* Writes the formula of a statistic in a scope, behind spaces and a key. */
static void write_formula(FILE *out, const struct metric_table *metrics,
                          const struct shown_metric *shown, enum statistic statistic, int indent,
                          const char *key, enum propagation_scope in)
{
    const char *scope = propagation_names[in];
    size_t n = count_threads(metrics), metric = shown->parts[0];
    fprintf(out, "\n%*s%s: ", indent, "", key);
    switch (statistic) {
    case STATISTIC_MEAN:
        fputs("{'/': [", out);
        write_sum(out, shown, scope);
        fprintf(out, ", %zu]}", n);
        break;
    case STATISTIC_MIN: fprintf(out, "*metric-%zu-%s-min", metric, scope); break;
    case STATISTIC_MAX: fprintf(out, "*metric-%zu-%s-max", metric, scope); break;
    case STATISTIC_STDDEV:
        /* The variance may be rounded to less than 0: the root of its square is its amount. */
        fprintf(out,
                "{sqrt: [{'^': [{'^': [{'-': [{'/': [*metric-%zu-%s-squares, %zu]}, "
                "{'^': [{'/': [*metric-%zu-%s, %zu]}, 2]}]}, 2]}, 0.5]}]}",
                metric, scope, n, metric, scope, n);
        break;
    default: write_sum(out, shown, scope); break;
    }
}

/* The database has the minimum, maximum and squares of its metrics, not of sums of them. */
static bool has_variant(const struct metric_table *metrics, const struct shown_metric *shown,
                        enum statistic statistic)
{
    if (statistic == STATISTIC_SUM)
        return true;
    return statistics_have(metrics->statistics, statistic) &&
           (shown->n_parts == 1 || statistic == STATISTIC_MEAN);
}

/* Writes a metric as an item of a sequence; `indent`: spaces before it. `render` must be a sequence
 * for HPCToolkit's viewer. */
static void write_metric(FILE *out, const struct metric_table *metrics,
                         const struct shown_metric *shown, int indent)
{
    static const char *const names[STATISTICS] = {"Sum", "Mean", "Min", "Max", "StdDev"};
    fprintf(out, "%*s- name: ", indent, "");
    write_quoted(out, shown->name);
    fprintf(out, "\n%*s  description: ", indent, "");
    write_quoted(out, shown->description);
    if (shown->is_aside)
        fprintf(out, "\n%*s  visible by default: false", indent, "");
    fprintf(out, "\n%*s  variants:", indent, "");
    for (int s = 0; s < STATISTICS; s++) {
        enum statistic statistic = (enum statistic)s;
        if (!has_variant(metrics, shown, statistic))
            continue;
        const char *render = statistic == STATISTIC_SUM ? "[number, percent]" : "[number]";
        fprintf(out, "\n%*s%s:\n%*srender: %s\n%*sformula:\n%*sinclusive:", indent + 4, "",
                names[s], indent + 6, "", render, indent + 6, "", indent + 8, "");
        write_formula(out, metrics, shown, statistic, indent + 10, "standard", PROPAGATE_EXECUTION);
        fprintf(out, "\n%*sexclusive:", indent + 8, "");
        write_formula(out, metrics, shown, statistic, indent + 10, "custom", PROPAGATE_LEX_AWARE);
        write_formula(out, metrics, shown, statistic, indent + 10, "standard", PROPAGATE_FUNCTION);
    }
    fputc('\n', out);
}

static void write_stored(FILE *out, const struct metric_table *metrics, size_t index, int indent)
{
    const struct metric *metric = &metrics->all.at[index];
    const struct shown_metric shown = {
        .name = metric->name,
        .description = metric_description(metrics, metric),
        .parts = {index},
        .n_parts = 1,
        .is_aside = metric->kind_of != NO_METRIC,
    };
    write_metric(out, metrics, &shown, indent);
    free(shown.description);
}

/* Writes the kinds of overhead as children of the metric of all overhead: readers show them on
 * request. */
static void write_children(FILE *out, const struct metric_table *metrics, size_t parent)
{
    const char *head = "    children:\n";
    for (size_t i = 0; i < metrics->all.n; i++)
        if (metrics->all.at[i].kind_of == parent) {
            fputs(head, out);
            head = "";
            write_stored(out, metrics, i, 4);
        }
}

/* Writes the sum of an event's work, overhead and idleness, if it has more of these than work. */
static void write_effort(FILE *out, const struct metric_table *metrics, const struct metric *work)
{
    static const char *const parts[EFFORT_PARTS] = {METRIC_WORK, METRIC_OVERHEAD, METRIC_IDLENESS};
    struct shown_metric shown = {.n_parts = 0};
    for (size_t part = 0; part < EFFORT_PARTS; part++)
        for (size_t i = 0; i < metrics->all.n; i++)
            if (metrics->all.at[i].event == work->event &&
                strcmp(metrics->all.at[i].recorded_name, parts[part]) == 0)
                shown.parts[shown.n_parts++] = i;
    if (shown.n_parts < 2)
        return;
    autofree char *name = mem_printf(METRIC_EFFORT "%s", work->name + strlen(METRIC_WORK));
    shown.name = name;
    shown.description = mem_strdup("All time that the workers had: the sum of work, overhead and "
                                   "idleness, as far as they were measured.");
    write_metric(out, metrics, &shown, 2);
    free(shown.description);
}

/* Whether readers show it next to others: it is no part of another one, and not internal. */
static bool is_root(const struct metric *metric)
{
    const struct metric_kind *kind = metric_kind_of(metric->recorded_name);
    return metric->kind_of == NO_METRIC && !(kind && kind->is_internal);
}

static void write_roots(FILE *out, const struct metric_table *metrics)
{
    for (size_t i = 0; i < metrics->all.n; i++)
        if (is_root(&metrics->all.at[i])) {
            write_stored(out, metrics, i, 2);
            write_children(out, metrics, i);
        }
    for (size_t i = 0; i < metrics->all.n; i++) {
        const struct metric *metric = &metrics->all.at[i];
        if (strcmp(metric->recorded_name, METRIC_WORK) == 0 &&
            event_is_sampled_time(metric_event(metrics, metric)))
            write_effort(out, metrics, metric);
    }
}

void metrics_yaml_write(const char *path, const struct metric_table *metrics)
{
    FILE *out = output_stream(path);
    fputs("version: 0\ninputs:\n", out);
    write_inputs(out, metrics);
    fputs("roots:\n", out);
    write_roots(out, metrics);
    output_stream_close(out, path, true);
}
