#include "hpcprof/database/database-files.h"
#include "hpcprof/database/v4-file.h"

#include "hpcprof/base/output-file.h"

#include <stdio.h>
#include <string.h>

/* The scopes that views use; point values are contained in them. */
static const enum propagation_scope shown[] = {PROPAGATE_EXECUTION, PROPAGATE_LEX_AWARE,
                                               PROPAGATE_FUNCTION};

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

/* Writes the formula of a statistic in a scope, behind spaces and a key. */
static void write_formula(FILE *out, const struct metric_table *metrics, size_t metric,
                          enum statistic statistic, int indent, const char *key,
                          enum propagation_scope in)
{
    const char *scope = propagation_names[in];
    size_t n = count_threads(metrics);
    fprintf(out, "\n%*s%s: ", indent, "", key);
    switch (statistic) {
    case STATISTIC_MEAN: fprintf(out, "{'/': [*metric-%zu-%s, %zu]}", metric, scope, n); break;
    case STATISTIC_MIN: fprintf(out, "*metric-%zu-%s-min", metric, scope); break;
    case STATISTIC_MAX: fprintf(out, "*metric-%zu-%s-max", metric, scope); break;
    case STATISTIC_STDDEV:
        fprintf(out,
                "{sqrt: [{max: [0, {'-': [{'/': [*metric-%zu-%s-squares, %zu]}, "
                "{'^': [{'/': [*metric-%zu-%s, %zu]}, 2]}]}]}]}",
                metric, scope, n, metric, scope, n);
        break;
    default: fprintf(out, "*metric-%zu-%s", metric, scope); break;
    }
}

/* Writes a metric as an item of a sequence; `indent`: spaces before it. */
static void write_metric(FILE *out, const struct metric_table *metrics, size_t metric, int indent)
{
    static const char *const names[STATISTICS] = {"Sum", "Mean", "Min", "Max", "StdDev"};
    fprintf(out, "%*s- name: ", indent, "");
    write_quoted(out, metrics->all.at[metric].name);
    fprintf(out, "\n%*s  description: ", indent, "");
    write_quoted(out, metrics->all.at[metric].name);
    fprintf(out, "\n%*s  variants:", indent, "");
    for (int s = 0; s < STATISTICS; s++) {
        enum statistic statistic = (enum statistic)s;
        if (statistic != STATISTIC_SUM && !statistics_have(metrics->statistics, statistic))
            continue;
        const char *render = statistic == STATISTIC_SUM ? "[number, percent]" : "number";
        fprintf(out, "\n%*s%s:\n%*srender: %s\n%*sformula:\n%*sinclusive:", indent + 4, "",
                names[s], indent + 6, "", render, indent + 6, "", indent + 8, "");
        write_formula(out, metrics, metric, statistic, indent + 10, "standard",
                      PROPAGATE_EXECUTION);
        fprintf(out, "\n%*sexclusive:", indent + 8, "");
        write_formula(out, metrics, metric, statistic, indent + 10, "custom", PROPAGATE_LEX_AWARE);
        write_formula(out, metrics, metric, statistic, indent + 10, "standard",
                      PROPAGATE_FUNCTION);
    }
    fputc('\n', out);
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
            write_metric(out, metrics, i, 4);
        }
}

static void write_roots(FILE *out, const struct metric_table *metrics)
{
    for (size_t i = 0; i < metrics->all.n; i++)
        if (metrics->all.at[i].kind_of == NO_METRIC) {
            write_metric(out, metrics, i, 2);
            write_children(out, metrics, i);
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
