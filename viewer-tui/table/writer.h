/* What every printer writes with: text for people, or comma-separated values or JSON for programs.
 *
 * Tables (table.h) are written in any of the three, or as Markdown; what is no table (running text, trees in JSON) is written by the
 * calls of its format.
 *
 * CSV is that of RFC 4180: records end with CR LF, and fields are quoted where they need it. Names
 * are written in their printable form (lib/printable.h): valid UTF-8 without control characters. A
 * text that a spreadsheet would take for a formula gets an apostrophe before it: '=2+3 (numbers are
 * written as they are). */
#ifndef VIEWER_WRITER_H
#define VIEWER_WRITER_H

#include "lib/json.h"
#include "lib/number.h"
#include "viewer-tui/advice/what-if.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/session.h"
#include "viewer-tui/metrics/metric.h"
#include "viewer-tui/tree/view.h"

#include <stdio.h>

enum format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_FOLDED, /* this and the next ones show trees only (export-stacks.h) */
    FORMAT_FLAMEGRAPH,
    FORMAT_SPEEDSCOPE,
    FORMAT_PPROF,
    FORMAT_SVG, /* of a tree the flame graph, of a set the speedups, or the time line */
    FORMAT_CHROME, /* of time lines only */
    FORMAT_MARKDOWN, /* of a comparison, for the log of a build server */
    FORMATS
};

struct writer {
    enum format format; /* text, CSV or JSON */
    FILE *out;
    bool ascii;              /* text: no other characters */
    size_t width;            /* text: columns of running text */
    bool is_terminal;        /* text: of a terminal, on which longer lines are broken between words */
    struct text line;        /* text: the line in the making */
    bool has_fields;         /* csv: the record has a field already */
    struct json_writer json; /* json */
};

/* Columns of text for people. */
#define LINE_WIDTH 100

/* Width: columns of the terminal; 0: it is none, and lines have LINE_WIDTH. The caller frees it with writer_free, which
 * ends a JSON document. */
void writer_open(struct writer *writer, enum format format, size_t width, FILE *out);
void writer_free(struct writer *writer);

/* The head of a page: in text the first line of every view (session-titles.h), in JSON the members title, databases (of a
 * comparison), view and projection. `db`: NULL for what is of several. */
void writer_head(struct writer *writer, const struct session *session, const struct database *db, const char *view,
                 enum projection projection);

/* The member "range": the piece of time to which values are restricted (run-slice.h); nothing for the whole run. */
void json_put_range(struct json_writer *json, const struct session *session);

/* ---- Text ---- */

/* Adds formatted text, in which each %s is cleaned (text_say); writer_line takes what is clean. */
#define writer_say(writer, ...) text_say(&(writer)->line, (writer)->ascii, __VA_ARGS__)
void writer_end_line(struct writer *writer);
/* Ends the line with formatted text. */
#define writer_line(writer, ...)                                                                   \
    (text_printf(&(writer)->line, __VA_ARGS__), writer_end_line(writer))
/* Ends the line with formatted text that is cleaned. */
#define writer_say_line(writer, ...) (writer_say(writer, __VA_ARGS__), writer_end_line(writer))
/* The first line of every view (session-titles.h). */
void writer_run_line(struct writer *writer, const struct session *session,
                     const struct database *db);
/* An empty line and a heading. */
void writer_heading(struct writer *writer, const char *heading);

/* Column titles, each in as many lines as it needs. A zeroed one is empty. */
struct column_title {
    char *title;
    const char *rest; /* what is still to be written of it */
    size_t width;
};

struct column_titles {
    VEC(struct column_title) list;
};

/* Appends a column; there is a space between its title and that of the column before. */
void column_titles_add(struct column_titles *titles, const char *title, size_t width);

/* Adds the next line of all titles, centered or flush right; false at the end. */
bool column_titles_line(struct column_titles *titles, bool is_centered, struct text *line);

void column_titles_free(struct column_titles *titles);

/* ---- CSV ---- */

void csv_text(struct writer *writer, const char *text); /* NULL: an empty field */
void csv_number(struct writer *writer, double value);
void csv_integer(struct writer *writer, uint64_t value);

/* What follows a metric's name in a head: " (lower bound)", or "". */
const char *csv_state(const struct metric *metric);

void csv_end_record(struct writer *writer);

/* ---- JSON: members of the object in the making ---- */

/* Members work_error, span_error and burdened_span_error, if there are errors. */
void json_put_errors(struct json_writer *json, const struct work_span *of);

/* null if the metric was not measured, or the value is not defined. */
void json_put_cost(struct json_writer *json, const char *key, const struct metric *metric,
                   double value);

/* A value in percent of the whole program's effort; null if that is 0. */
void json_put_percent(struct json_writer *json, const char *key, double value, double effort);

/* "file" and "line", null for NULL and 0. */
void json_put_place(struct json_writer *json, const char *file, uint32_t line);

/* An element of an array: {"name", "unit", "state"}, with "why" unless it was simply measured; a
 * sum has "sum_of", the names of its parts; a derived metric has its "formula". */
void json_write_metric(struct json_writer *json, const struct metrics *metrics, size_t metric);

/* The array of the metrics that JSON has: those that are shown, and internal ones. */
void json_put_metrics(struct json_writer *json, const char *key, const struct metrics *metrics);

/* "metrics": the whole program's costs of the same metrics, by name. */
void json_put_totals(struct json_writer *json, const struct view *view);

#endif
