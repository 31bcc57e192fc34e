#include "viewer-tui/output/print-scaling.h"

#include <math.h>
#include <stdlib.h>

/* A column of a table: its title in text, its key in CSV and JSON, and where it is in a row. */
struct scaling_column {
    const char *title, *key;
    size_t place; /* of a double, or of a structure that begins with it */
    int decimals;
};

#define PLACE(member) offsetof(struct scaling_row, member)

static const struct scaling_column costs[] = {
    {"work, s", "work", PLACE(work.median), 3},
    {"overhead, s", "overhead", PLACE(overhead.median), 3},
    {"idleness, s", "idleness", PLACE(idleness.median), 3},
    {"inflation, s", "inflation", PLACE(inflation), 3}};

static const struct scaling_column factored[] = {
    {"maximal", "maximal", PLACE(speedups[MAXIMAL_SPEEDUP]), 2},
    {"idle-specific", "idle_specific", PLACE(speedups[IDLE_SPECIFIC_SPEEDUP]), 2},
    {"inflation-specific", "inflation_specific", PLACE(speedups[INFLATION_SPECIFIC_SPEEDUP]), 2},
    {"actual", "actual", PLACE(speedups[ACTUAL_SPEEDUP]), 2}};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Columns of numbers in text. */
#define WIDTH 12

static double value_in(const struct scaling_row *row, const struct scaling_column *column)
{
    return *(const double *)((const char *)row + column->place);
}

/* ---- text ---- */

static int width_of(const struct scaling_column *column)
{
    int title = (int)text_columns(column->title) + 2;
    return title > WIDTH ? title : WIDTH;
}

static void add_titles(struct text *line, const struct scaling_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_printf(line, "%*s", width_of(&columns[i]), columns[i].title);
}

static void add_values(struct text *line, const struct scaling_row *row,
                       const struct scaling_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double value = value_in(row, &columns[i]);
        if (isfinite(value))
            text_printf(line, "%*.*f", width_of(&columns[i]), columns[i].decimals, value);
        else
            text_printf(line, "%*s", width_of(&columns[i]), "-");
    }
}

/* "0.513 to 0.520" */
static void add_interval(struct text *line, const struct median_interval *time)
{
    char interval[64];
    snprintf(interval, sizeof interval, "%.3f to %.3f", time->low, time->high);
    text_printf(line, "%9.3f  %20s", time->median, interval);
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

static void print_times(struct writer *writer, const struct scaling_table *table)
{
    writer_heading(writer, "Times");
    text_printf(&writer->line, "%9s%6s%9s  %20s%9s", "workers", "runs", "T_P, s", "interval",
                "speedup");
    add_titles(&writer->line, costs, LENGTH(costs));
    writer_end_line(writer);
    for (size_t i = 0; i < table->rows.n; i++) {
        const struct scaling_row *row = &table->rows.at[i];
        text_printf(&writer->line, "%9u%6zu", row->workers, row->n_runs);
        add_interval(&writer->line, &row->time);
        if (isfinite(row->speedups[ACTUAL_SPEEDUP].value))
            text_printf(&writer->line, "%9.2f", row->speedups[ACTUAL_SPEEDUP].value);
        else
            text_printf(&writer->line, "%9s", "-");
        add_values(&writer->line, row, costs, LENGTH(costs));
        writer_end_line(writer);
    }
}

static void print_factored(struct writer *writer, const struct scaling_table *table)
{
    writer_heading(writer, "Factored speedups");
    text_printf(&writer->line, "%9s%9s", "workers", "linear");
    add_titles(&writer->line, factored, LENGTH(factored));
    writer_end_line(writer);
    for (size_t i = 0; i < table->rows.n; i++) {
        const struct scaling_row *row = &table->rows.at[i];
        text_printf(&writer->line, "%9u%9u", row->workers, row->workers);
        add_values(&writer->line, row, factored, LENGTH(factored));
        writer_end_line(writer);
    }
}

/* "7.31", or "-" */
static void add_speedup(struct text *line, double speedup, int width)
{
    if (isfinite(speedup))
        text_printf(line, "%*.2f", width, speedup);
    else
        text_printf(line, "%*s", width, "-");
}

static void print_laws(struct writer *writer, const struct scaling_table *table)
{
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
    if (of->why_lower_bound) {
        text_add(&writer->line, "  the span is a lower bound: ");
        writer_clean(writer, of->why_lower_bound);
        writer_line(writer, "; so no speedup is certain");
    }
    if (!isfinite(table->baseline))
        return;
    writer_line(writer, "%9s%20s%20s%20s", "workers", "work law, at most", "span law, at most",
                "burdened, at least");
    for (size_t i = 0; i < table->rows.n; i++) {
        struct speedup_laws laws = scaling_laws(table, table->rows.at[i].workers);
        text_printf(&writer->line, "%9u%20.2f%20.2f", table->rows.at[i].workers, laws.work_law,
                    laws.span_law);
        add_speedup(&writer->line, laws.burdened, 20);
        writer_end_line(writer);
    }
}

/* The smallest probability of the intervals. */
static double least_coverage(const struct scaling_table *table)
{
    double least = table->n_serial ? table->serial.coverage : 1;
    for (size_t i = 0; i < table->rows.n; i++)
        least = fmin(least, table->rows.at[i].time.coverage);
    return least;
}

/* Less than this share of CPUs has a note of its own. */
#define MOST_CPUS 0.8

/* The row whose workers had the smallest share of their CPUs, if that is worth a note; or NULL. */
static const struct scaling_row *row_without_cpus(const struct scaling_table *table)
{
    const struct scaling_row *found = NULL;
    double least = MOST_CPUS;
    for (size_t i = 0; i < table->rows.n; i++) {
        double share = scaling_share_of_cpus(&table->rows.at[i]);
        if (share < least) {
            least = share;
            found = &table->rows.at[i];
        }
    }
    return found;
}

static void print_notes(struct writer *writer, const struct run_set *set,
                        const struct scaling_table *table)
{
    double coverage = 100 * least_coverage(table);
    bool exceeds = false, lacks_idleness = false;
    for (size_t i = 0; i < table->rows.n; i++) {
        exceeds |= table->rows.at[i].exceeds_cpus;
        lacks_idleness |= isnan(table->rows.at[i].idleness.median);
    }
    const struct scaling_row *without = row_without_cpus(table);
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
                coverage);
    if (coverage < 95)
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

static void print_text(struct writer *writer, const struct run_set *set,
                       const struct scaling_table *table)
{
    text_add_clean_code(&writer->line, set->command, writer->ascii); /* it has its escapes */
    writer_line(writer, ": scaling");
    print_baseline(writer, table);
    print_times(writer, table);
    print_factored(writer, table);
    print_laws(writer, table);
    print_notes(writer, set, table);
}

/* ---- JSON ---- */

static void put_time(struct json_writer *json, const struct median_interval *time, size_t n_runs)
{
    json_put_integer(json, "runs", (int64_t)n_runs);
    json_put_number(json, "time", time->median);
    json_put_array(json, "interval");
    json_write_double(json, time->low);
    json_write_double(json, time->high);
    json_write_array_end(json);
    json_put_number(json, "coverage", time->coverage);
}

/* "bands": low end, high end and probability of each speedup; null: there is no band. */
static void put_bands(struct json_writer *json, const struct scaling_row *row)
{
    json_put_object(json, "bands");
    for (size_t i = 0; i < LENGTH(factored); i++) {
        const struct speedup *of = &row->speedups[MAXIMAL_SPEEDUP + i];
        json_put_array(json, factored[i].key);
        json_write_double(json, of->low);
        json_write_double(json, of->high);
        json_write_double(json, of->coverage > 0 ? of->coverage : NAN);
        json_write_array_end(json);
    }
    json_write_object_end(json);
}

static void put_row(struct json_writer *json, const struct scaling_table *table,
                    const struct scaling_row *row)
{
    json_write_break(json);
    json_write_object(json);
    json_put_integer(json, "workers", row->workers);
    put_time(json, &row->time, row->n_runs);
    json_put_number(json, "speedup", row->speedups[ACTUAL_SPEEDUP].value);
    for (size_t i = 0; i < LENGTH(costs); i++)
        json_put_number(json, costs[i].key, value_in(row, &costs[i]));
    json_put_object(json, "factored");
    json_put_integer(json, "linear", row->workers);
    for (size_t i = 0; i < LENGTH(factored); i++)
        json_put_number(json, factored[i].key, value_in(row, &factored[i]));
    json_write_object_end(json);
    put_bands(json, row);
    if (table->has_work_span && isfinite(table->baseline)) {
        struct speedup_laws laws = scaling_laws(table, row->workers);
        json_put_object(json, "laws");
        json_put_number(json, "work_law", laws.work_law);
        json_put_number(json, "span_law", laws.span_law);
        json_put_number(json, "burdened", laws.burdened);
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

static void put_work_span(struct json_writer *json, const struct scaling_table *table)
{
    if (!table->has_work_span)
        return;
    json_put_object(json, "work_span");
    json_put_integer(json, "workers", table->work_span_workers);
    json_put_integer(json, "runs", (int64_t)table->n_work_span);
    json_write_text(json, "state", table->work_span.why_lower_bound ? "lower bound" : "measured");
    if (table->work_span.why_lower_bound)
        json_write_text(json, "why", table->work_span.why_lower_bound);
    json_put_number(json, "work", table->work_span.work);
    json_put_number(json, "span", table->work_span.span);
    json_put_number(json, "burdened_span", table->work_span.burdened_span);
    json_put_errors(json, &table->work_span);
    json_write_object_end(json);
}

static void put_failures(struct json_writer *json, const struct run_set *set)
{
    json_put_array(json, "failed");
    for (size_t i = 0; i < set->runs.n; i++) {
        const struct set_run *run = &set->runs.at[i];
        if (run->status == 0)
            continue;
        json_write_object(json);
        json_put_integer(json, "workers", run->workers);
        json_put_integer(json, "repeat", run->repeat);
        json_put_integer(json, "status", run->status);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void print_json(struct writer *writer, const struct run_set *set,
                       const struct scaling_table *table)
{
    struct json_writer *json = &writer->json;
    const char *one = isfinite(table->baseline) ? "one worker" : NULL;
    json_write_text(json, "title", set->command);
    json_write_text(json, "baseline", table->n_serial ? "serial" : one);
    json_put_number(json, "baseline_time", table->baseline);
    if (table->n_serial) {
        json_put_object(json, "serial");
        json_write_text(json, "command", set->serial);
        put_time(json, &table->serial, table->n_serial);
        json_write_object_end(json);
    }
    json_put_array(json, "rows");
    for (size_t i = 0; i < table->rows.n; i++)
        put_row(json, table, &table->rows.at[i]);
    json_write_array_end(json);
    put_work_span(json, table);
    put_failures(json, set);
}

/* ---- CSV ---- */

static void csv_value(struct writer *writer, double value)
{
    if (isfinite(value))
        csv_number(writer, value);
    else
        csv_text(writer, "-");
}

static void csv_time(struct writer *writer, const struct median_interval *time, size_t n_runs)
{
    csv_integer(writer, n_runs);
    csv_value(writer, time->median);
    csv_value(writer, time->low);
    csv_value(writer, time->high);
}

/* Columns after the time. */
#define OTHER_COLUMNS (LENGTH(costs) + 3 * LENGTH(factored) + LAWS)
#define LAWS          3

static void print_csv_heads(struct writer *writer)
{
    csv_texts(writer, (const char *const[]){"workers", "runs", "time", "time low", "time high"}, 5);
    for (size_t i = 0; i < LENGTH(costs); i++)
        csv_text(writer, costs[i].key);
    for (size_t i = 0; i < LENGTH(factored); i++)
        csv_text(writer, factored[i].key);
    for (size_t i = 0; i < LENGTH(factored); i++) {
        char *low = mem_printf("%s low", factored[i].key);
        char *high = mem_printf("%s high", factored[i].key);
        csv_text(writer, low);
        csv_text(writer, high);
        free(low);
        free(high);
    }
    csv_texts(writer,
              (const char *const[]){"work_law", "span_law", "burdened"}, LAWS);
    csv_end_record(writer);
}

static void csv_missing(struct writer *writer, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        csv_text(writer, "-");
}

static void print_csv_row(struct writer *writer, const struct scaling_table *table,
                          const struct scaling_row *row)
{
    struct speedup_laws laws = {NAN, NAN, NAN};
    if (table->has_work_span)
        laws = scaling_laws(table, row->workers);
    csv_integer(writer, row->workers);
    csv_time(writer, &row->time, row->n_runs);
    for (size_t i = 0; i < LENGTH(costs); i++)
        csv_value(writer, value_in(row, &costs[i]));
    for (size_t i = 0; i < LENGTH(factored); i++)
        csv_value(writer, value_in(row, &factored[i]));
    for (size_t i = 0; i < LENGTH(factored); i++) {
        const struct speedup *of = &row->speedups[MAXIMAL_SPEEDUP + i];
        csv_value(writer, of->low);
        csv_value(writer, of->high);
    }
    csv_value(writer, laws.work_law);
    csv_value(writer, laws.span_law);
    csv_value(writer, laws.burdened);
    csv_end_record(writer);
}

static void print_csv(struct writer *writer, const struct scaling_table *table)
{
    print_csv_heads(writer);
    if (table->n_serial) {
        csv_text(writer, "serial");
        csv_time(writer, &table->serial, table->n_serial);
        csv_missing(writer, OTHER_COLUMNS);
        csv_end_record(writer);
    }
    for (size_t r = 0; r < table->rows.n; r++)
        print_csv_row(writer, table, &table->rows.at[r]);
}

void print_scaling(const struct run_set *set, const struct scaling_table *table, enum format format,
                   FILE *out)
{
    struct writer writer;
    if (format == FORMAT_SVG) {
        print_scaling_svg(set->command, table, out);
        return;
    }
    writer_open(&writer, print_class(format), out);
    if (format == FORMAT_JSON)
        print_json(&writer, set, table);
    else if (format == FORMAT_CSV)
        print_csv(&writer, table);
    else
        print_text(&writer, set, table);
    writer_free(&writer);
}
