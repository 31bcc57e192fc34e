#include "viewer-tui/output/print-scaling.h"

#include "viewer-tui/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of the tables: a number of workers, or the serial baseline. */
struct line {
    struct scaling_row row;
    char *workers, *interval; /* "serial" or the number; "0.513 to 0.520"; owned */
    int64_t runs;
    struct speedup_laws laws;
};

#define MEMBER(name) .place = offsetof(struct line, name)
#define COST(name, member)                                                                         \
    {name ", s", name, name, NULL, OF_DOUBLE, MEMBER(row.member), .width = sizeof name + 4 > 12 ? sizeof name + 4 : 12, \
     .decimals = 3}
/* A speedup: the value, and its band in JSON and CSV. */
#define SPEEDUP(title, key, kind)                                                                  \
    {title, key, key, "factored", OF_DOUBLE, MEMBER(row.speedups[kind].value),                     \
     .width = sizeof title + 1 > 12 ? sizeof title + 1 : 12, .decimals = 2}
#define BAND(key, kind)                                                                            \
    {NULL, key " low", key, "bands", OF_DOUBLE, MEMBER(row.speedups[kind].low)},                   \
        {NULL, key " high", key, "bands", OF_DOUBLE, MEMBER(row.speedups[kind].high)},             \
        {NULL, NULL, key, "bands", OF_DOUBLE, MEMBER(row.speedups[kind].coverage)}
#define LAW(title, key)                                                                            \
    {title, #key, #key, "laws", OF_DOUBLE, MEMBER(laws.key), .width = 20, .decimals = 2}

/* Text has three tables: the times, the factored speedups and the laws; CSV and JSON have one. */
static const struct table_column columns[] = {
    {"workers", "workers", NULL, NULL, OF_TEXT, MEMBER(workers), .width = 9},
    {NULL, NULL, "workers", NULL, OF_UNSIGNED, MEMBER(row.workers)},
    {"runs", "runs", "runs", NULL, OF_INTEGER, MEMBER(runs), .width = 6},
    {"T_P, s", "time", "time", NULL, OF_DOUBLE, MEMBER(row.time.median), .width = 9, .decimals = 3},
    {"interval", NULL, NULL, NULL, OF_TEXT, MEMBER(interval), .width = 22},
    {NULL, "time low", "interval", NULL, OF_DOUBLE, MEMBER(row.time.low)},
    {NULL, "time high", "interval", NULL, OF_DOUBLE, MEMBER(row.time.high)},
    {NULL, NULL, "coverage", NULL, OF_DOUBLE, MEMBER(row.time.coverage)},
    {"speedup", NULL, "speedup", NULL, OF_DOUBLE, MEMBER(row.speedups[ACTUAL_SPEEDUP].value), .width = 9, .decimals = 2},
    COST("work", work.median),
    COST("overhead", overhead.median),
    COST("idleness", idleness.median),
    COST("inflation", inflation),
#define RUNS     2
#define INTERVAL 4
#define FACTORED 13
    {"linear", NULL, "linear", "factored", OF_UNSIGNED, MEMBER(row.workers), .width = 9},
    SPEEDUP("maximal", "maximal", MAXIMAL_SPEEDUP),
    SPEEDUP("idle-specific", "idle_specific", IDLE_SPECIFIC_SPEEDUP),
    SPEEDUP("inflation-specific", "inflation_specific", INFLATION_SPECIFIC_SPEEDUP),
    SPEEDUP("actual", "actual", ACTUAL_SPEEDUP),
    BAND("maximal", MAXIMAL_SPEEDUP),
    BAND("idle_specific", IDLE_SPECIFIC_SPEEDUP),
    BAND("inflation_specific", INFLATION_SPECIFIC_SPEEDUP),
    BAND("actual", ACTUAL_SPEEDUP),
#define LAWS 30
    LAW("work law, at most", work_law),
    LAW("span law, at most", span_law),
    LAW("burdened, at least", burdened),
#define COLUMNS 33
};
_Static_assert(sizeof columns / sizeof *columns == COLUMNS, "the tables of text begin at these columns");

struct printed_scaling {
    struct writer writer;
    const struct run_set *set;
    const struct scaling_table *table;
    VEC(struct line) lines; /* the serial baseline, if there is one, and the rows */
};

static void add_line(struct printed_scaling *printed, struct line line)
{
    const struct median_interval *time = &line.row.time;
    line.interval = mem_printf("%.3f to %.3f", time->low, time->high);
    for (int kind = 0; kind < SPEEDUP_KINDS; kind++)
        if (!(line.row.speedups[kind].coverage > 0))
            line.row.speedups[kind].coverage = NAN;
    vec_push(&printed->lines, line);
}

static void add_lines(struct printed_scaling *printed)
{
    static const struct median_interval unknown = {NAN, NAN, NAN, NAN};
    static const struct speedup none = {NAN, NAN, NAN, NAN};
    const struct scaling_table *table = printed->table;
    struct line serial = {.row = {.time = table->serial, .work = unknown, .overhead = unknown, .idleness = unknown,
                                  .inflation = NAN, .speedups = {none, none, none, none, none}},
                          .runs = (int64_t)table->n_serial, .workers = mem_strdup("serial"), .laws = {NAN, NAN, NAN}};
    add_line(printed, serial);
    for (size_t i = 0; i < table->rows.n; i++) {
        const struct scaling_row *row = &table->rows.at[i];
        struct line line = {.row = *row, .runs = (int64_t)row->n_runs, .workers = mem_printf("%u", row->workers),
                            .laws = serial.laws};
        if (table->has_work_span)
            line.laws = scaling_laws(table, row->workers);
        add_line(printed, line);
    }
}

/* A table of some columns. */
static struct data_table table_of(const struct printed_scaling *printed, size_t from, size_t to, bool has_serial)
{
    size_t first = has_serial ? 0 : 1;
    return (struct data_table){columns + from, to - from, printed->lines.at + first, sizeof *printed->lines.at,
                          printed->lines.n - first, NULL};
}

/* ---- text ---- */

/* Width of the lines of times. */
#define TIMES_WIDTH 103

/* The numbers of workers with the columns [from, to). Returns where the rows begin, if the file can say that. */
static long print_columns(struct printed_scaling *printed, size_t from, size_t to)
{
    struct table_column shown[COLUMNS] = {columns[0]};
    struct data_table table = table_of(printed, from, to, false);
    memcpy(shown + 1, columns + from, (to - from) * sizeof *columns);
    if (from < RUNS && printed->writer.width < TIMES_WIDTH)
        shown[1 + RUNS - from].title = shown[1 + INTERVAL - from].title = NULL;
    table.columns = shown;
    table.n_columns++;
    table_write(&table, &printed->writer, NULL, 0);
    long rows_at = ftell(printed->writer.out);
    table_write_lines(&table, &printed->writer, 0, table.n_rows, false);
    return rows_at;
}

static void print_baseline(struct writer *writer, const struct scaling_table *table)
{
    text_add(&writer->line, "Baseline of speedups, T_s: ");
    if (table->n_serial)
        writer_line(writer, "the serial program, %.3f s (%.3f to %.3f), %zu runs",
                    table->serial.median, table->serial.low, table->serial.high, table->n_serial);
    else if (isfinite(table->baseline))
        writer_line(writer, "the program with one worker, %.3f s (no --serial was given)",
                    table->baseline);
    else
        writer_line(writer, "none; hpcrun needs --serial, or --workers with 1 among the numbers");
}

static void print_laws(struct printed_scaling *printed)
{
    struct writer *writer = &printed->writer;
    const struct scaling_table *table = printed->table;
    const struct work_span *of = &table->work_span;
    if (!table->has_work_span)
        return;
    writer_heading(writer, "Speedups that work and span allow");
    const char *least = of->why_lower_bound ? "at least " : "";
    writer_line(
        writer,
        "  work %.3f s, span %s%.3f s, burdened span %s%.3f s, with %u worker%s (%zu run%s)",
        of->work, least, of->span, least, of->burdened_span, table->work_span_workers,
        table->work_span_workers == 1 ? "" : "s", table->n_work_span,
        table->n_work_span == 1 ? "" : "s");
    if (of->work_error >= 5e-4 || of->span_error >= 5e-4 || of->burdened_error >= 5e-4)
        writer_line(writer, "  they are right within %.3f s, %.3f s and %.3f s", of->work_error,
                    of->span_error, of->burdened_error);
    if (of->why_lower_bound)
        writer_say_line(writer, "  the span is a lower bound: %s; so no speedup is certain", of->why_lower_bound);
    if (isfinite(table->baseline))
        print_columns(printed, LAWS, COLUMNS);
}

/* Less than this share of CPUs has a note of its own. */
#define MOST_CPUS 0.8

static void print_notes(struct writer *writer, const struct run_set *set,
                        const struct scaling_table *table)
{
    double coverage = table->n_serial ? table->serial.coverage : 1; /* the least one */
    bool exceeds = false, lacks_idleness = false;
    const struct scaling_row *without = NULL; /* the row whose workers had the smallest share of their CPUs */
    for (size_t i = 0; i < table->rows.n; i++) {
        const struct scaling_row *row = &table->rows.at[i];
        coverage = fmin(coverage, row->time.coverage);
        exceeds |= row->exceeds_cpus;
        lacks_idleness |= isnan(row->idleness.median);
        if (scaling_share_of_cpus(row) < (without ? scaling_share_of_cpus(without) : MOST_CPUS))
            without = row;
    }
    writer_heading(writer, "Notes");
    if (without)
        writer_line(writer,
                    "  work, overhead and idleness are only %.0f%% of P T_P with %u worker%s: the "
                    "program waited, or others had its CPUs",
                    100 * scaling_share_of_cpus(without), without->workers,
                    without->workers == 1 ? "" : "s");
    if (without && table->has_work_span)
        writer_line(writer, "  T_s has that, too; the work has not: speedups by laws are too high");
    writer_line(writer,
                "  T_P: median of the runs, and an interval that has the true median with "
                "%.1f%% or more",
                100 * coverage);
    if (100 * coverage < 95)
        writer_line(writer, "  95%% need 6 runs or more: hpcrun --repeat 6 adds what is missing");
    if (table->rows.n == 1)
        writer_line(writer, "  only one number of workers; hpcrun --workers 1,2,4 adds more");
    if (table->rows.at[0].workers > 1)
        writer_line(writer,
                    "  -: without a run with one worker, inflation and the factored speedups "
                    "that need T_1 are unknown");
    if (lacks_idleness)
        writer_line(writer, "  -: not measured; idleness needs a runtime that an agent knows");
    if (exceeds)
        writer_line(writer, "  -: not defined with more workers than CPUs, since idleness counts "
                            "CPUs");
    for (size_t i = 0; i < set->runs.n; i++) {
        const struct set_run *run = &set->runs.at[i];
        if (run->status)
            writer_line(writer, "  not used, status %d: %s", run->status, run->directory);
    }
}

/* Returns where the rows of the times begin. */
static long print_text(struct printed_scaling *printed)
{
    struct writer *writer = &printed->writer;
    text_add_clean_code(&writer->line, printed->set->command, writer->ascii); /* it has its escapes */
    writer_line(writer, ": scaling");
    print_baseline(writer, printed->table);
    writer_heading(writer, "Times");
    long rows_at = print_columns(printed, 1, FACTORED);
    writer_heading(writer, "Factored speedups");
    print_columns(printed, FACTORED, LAWS);
    print_laws(printed);
    print_notes(writer, printed->set, printed->table);
    return rows_at;
}

/* ---- JSON ---- */

static void print_json(struct printed_scaling *printed)
{
    struct json_writer *json = &printed->writer.json;
    const struct scaling_table *table = printed->table;
    bool has_laws = table->has_work_span && isfinite(table->baseline);
    struct data_table all = table_of(printed, 0, has_laws ? COLUMNS : LAWS, true), serial = table_of(printed, 2, 8, true);
    const char *one = isfinite(table->baseline) ? "one worker" : NULL;
    json_print(json, "title:%s baseline:%s baseline_time:%g", printed->set->command, table->n_serial ? "serial" : one,
               table->baseline);
    if (table->n_serial) {
        json_print(json, "serial:{command:%s", printed->set->serial);
        table_write_members(&serial, &printed->writer, 0);
        json_print(json, "}");
    }
    json_print(json, "rows:[");
    table_write_objects(&all, &printed->writer, 1, all.n_rows);
    json_print(json, "]");
    if (table->has_work_span) {
        const struct work_span *of = &table->work_span;
        json_print(json, "work_span:{workers:%u runs:%zu state:%s", table->work_span_workers, table->n_work_span,
                   of->why_lower_bound ? "lower bound" : "measured");
        if (of->why_lower_bound)
            json_print(json, "why:%s", of->why_lower_bound);
        json_print(json, "work:%g span:%g burdened_span:%g", of->work, of->span, of->burdened_span);
        json_put_errors(json, of);
        json_print(json, "}");
    }
    json_print(json, "failed:[");
    for (size_t i = 0; i < printed->set->runs.n; i++) {
        const struct set_run *run = &printed->set->runs.at[i];
        if (run->status)
            json_print(json, "{workers:%u repeat:%u status:%d}", run->workers, run->repeat, run->status);
    }
    json_print(json, "]");
}

static void free_printed(struct printed_scaling *printed)
{
    writer_free(&printed->writer);
    for (size_t i = 0; i < printed->lines.n; i++) {
        free(printed->lines.at[i].workers);
        free(printed->lines.at[i].interval);
    }
    vec_free(&printed->lines);
}

void print_scaling(const struct run_set *set, const struct scaling_table *table, enum format format,
                   FILE *out)
{
    if (format == FORMAT_SVG) {
        print_scaling_svg(set->command, table, out);
        return;
    }
    struct printed_scaling printed = {.set = set, .table = table};
    add_lines(&printed);
    writer_open(&printed.writer, format, 0, out);
    printed.writer.width = TIMES_WIDTH;
    struct data_table records = table_of(&printed, 0, COLUMNS, table->n_serial > 0);
    if (format == FORMAT_JSON)
        print_json(&printed);
    else if (format == FORMAT_CSV)
        table_write(&records, &printed.writer, NULL, records.n_rows);
    else
        print_text(&printed);
    free_printed(&printed);
}

char *scaling_text(const struct run_set *set, const struct scaling_table *table, size_t width, size_t *rows_at)
{
    struct printed_scaling printed = {.set = set, .table = table};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    add_lines(&printed);
    writer_open(&printed.writer, FORMAT_TEXT, 0, out);
    printed.writer.width = width;
    *rows_at = (size_t)print_text(&printed);
    free_printed(&printed);
    fclose(out);
    return text;
}
