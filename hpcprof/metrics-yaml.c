#include "hpcprof/metrics-yaml.h"

#include "hpcprof/propagation.h"

#include "lib/diag.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The scopes that views are made of; point values are contained in them. */
static const enum propagation_scope shown[] = {PROPAGATE_EXECUTION, PROPAGATE_LEX_AWARE,
                                               PROPAGATE_FUNCTION};

/* A name as a double-quoted scalar. */
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

static void write_inputs(FILE *out, const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->metrics.n; i++)
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            const char *scope = propagation_names[shown[k]];
            fprintf(out, "  - &metric-%zu-%s\n    metric: ", i, scope);
            write_quoted(out, inputs->metrics.at[i].name);
            fprintf(out, "\n    scope: %s\n    formula: $$\n    combine: sum\n", scope);
        }
}

static void write_roots(FILE *out, const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->metrics.n; i++) {
        fputs("  - name: ", out);
        write_quoted(out, inputs->metrics.at[i].name);
        fputs("\n    description: ", out);
        write_quoted(out, inputs->metrics.at[i].name);
        fprintf(out,
                "\n    variants:\n"
                "      Sum:\n"
                "        render: [number, percent]\n"
                "        formula:\n"
                "          inclusive:\n"
                "            standard: *metric-%zu-execution\n"
                "          exclusive:\n"
                "            custom: *metric-%zu-lex_aware\n"
                "            standard: *metric-%zu-function\n",
                i, i, i);
    }
}

void metrics_yaml_write(const char *path, const struct inputs *inputs)
{
    FILE *out = fopen(path, "we");
    if (!out)
        diag_fatal(path, "%s", strerror(errno));
    fputs("version: 0\ninputs:\n", out);
    write_inputs(out, inputs);
    fputs("roots:\n", out);
    write_roots(out, inputs);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        diag_fatal(path, "%s", strerror(errno));
}
