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

static void write_inputs(FILE *out, const struct metric_table *metrics)
{
    for (size_t i = 0; i < metrics->all.n; i++)
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            const char *scope = propagation_names[shown[k]];
            fprintf(out, "  - &metric-%zu-%s\n    metric: ", i, scope);
            write_quoted(out, metrics->all.at[i].name);
            fprintf(out, "\n    scope: %s\n    formula: $$\n    combine: sum\n", scope);
        }
}

/* Writes a metric as an item of a sequence; `indent`: spaces before it. */
static void write_metric(FILE *out, const struct metric_table *metrics, size_t metric, int indent)
{
    fprintf(out, "%*s- name: ", indent, "");
    write_quoted(out, metrics->all.at[metric].name);
    fprintf(out, "\n%*s  description: ", indent, "");
    write_quoted(out, metrics->all.at[metric].name);
    static const char *const lines[] = {"variants:", "  Sum:", "    render: [number, percent]",
                                        "    formula:", "      inclusive:"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fprintf(out, "\n%*s  %s", indent, "", lines[i]);
    fprintf(out, "\n%*s          standard: *metric-%zu-execution", indent, "", metric);
    fprintf(out, "\n%*s        exclusive:", indent, "");
    fprintf(out, "\n%*s          custom: *metric-%zu-lex_aware", indent, "", metric);
    fprintf(out, "\n%*s          standard: *metric-%zu-function\n", indent, "", metric);
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
