/* Comma-separated values as in RFC 4180: records end with CR LF, fields are quoted where they
 * need it. Text is written in the form of lib/printable.h: no controls, valid UTF-8, one line per record. */
#ifndef VIEWER_CSV_H
#define VIEWER_CSV_H

#include "viewer-tui/metrics/metric.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
    FILE *out;
    bool in_record; /* a field stands before the next one */
};

void csv_text(struct csv *csv, const char *text); /* NULL: an empty field */
void csv_number(struct csv *csv, double value);
void csv_integer(struct csv *csv, uint64_t value);
/* A value of the metric, "-" when it was not measured or is not defined. */
void csv_cost(struct csv *csv, const struct metric *metric, double value);
/* What a column's head has behind the metric's name: " (lower bound)" for such, else "". */
const char *csv_state(const struct metric *metric);
/* A value in percent of the whole program's effort; "-" when that is nothing. */
void csv_percent(struct csv *csv, double value, double effort);
void csv_end_record(struct csv *csv);

#endif
