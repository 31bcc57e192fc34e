#include "viewer-tui/output/csv.h"

#include "lib/json.h"
#include "lib/printable.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void separate(struct csv *csv)
{
    if (csv->in_record)
        putc_unlocked(',', csv->out);
    csv->in_record = true;
}

/* Writes text in its printable form, with each quote doubled. */
static void write_text(FILE *out, const char *text)
{
    while (*text) {
        if (*text == '"')
            putc_unlocked('"', out);
        char form[PRINTABLE_BYTES];
        size_t length = printable_next(&text, form);
        fwrite_unlocked(form, 1, length, out);
    }
}

void csv_text(struct csv *csv, const char *text)
{
    separate(csv);
    if (!text)
        return;
    bool is_quoted = strpbrk(text, ",\"") != NULL;
    if (is_quoted)
        putc_unlocked('"', csv->out);
    write_text(csv->out, text);
    if (is_quoted)
        putc_unlocked('"', csv->out);
}

void csv_number(struct csv *csv, double value)
{
    char text[JSON_DOUBLE_SIZE];
    json_format_double(value, text);
    separate(csv);
    fputs_unlocked(text, csv->out);
}

void csv_integer(struct csv *csv, uint64_t value)
{
    char text[JSON_DOUBLE_SIZE];
    snprintf(text, sizeof text, "%" PRIu64, value);
    separate(csv);
    fputs_unlocked(text, csv->out);
}

void csv_cost(struct csv *csv, const struct metric *metric, double value)
{
    if (metric_is_measured(metric) && isfinite(value))
        csv_number(csv, value);
    else
        csv_text(csv, "-");
}

const char *csv_state(const struct metric *metric)
{
    return metric_is_lower_bound(metric) ? " (lower bound)" : "";
}

void csv_percent(struct csv *csv, double value, double effort)
{
    if (effort != 0)
        csv_number(csv, 100 * value / effort);
    else
        csv_text(csv, "-");
}

void csv_end_record(struct csv *csv)
{
    fputs("\r\n", csv->out);
    csv->in_record = false;
}
