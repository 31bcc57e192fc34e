#include "viewer-tui/table/table.h"

#include "viewer-tui/table/columns.h"
#include "viewer-tui/tree/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const void *value_of(const struct data_table *table, size_t row, const struct table_column *column)
{
    return (const char *)table->rows + row * table->row_size + column->place;
}

struct table_column table_cost_column(const struct metrics *metrics, size_t m, const char *part,
                                      struct number_scale scale, double whole)
{
    const struct metric *metric = &metrics->at[m];
    struct table_column column = {.group = "metrics", .kind = OF_COST, .width = PART_WIDTH, .metric = m, .scale = scale,
                                  .whole = whole, .is_made = true};
    autofree struct text title = {0};
    columns_title(metric, scale.unit, (struct title_cuts){0}, describe_in_ascii(), &title);
    if (metrics_with_columns(metrics, m) == m)
        column.title = mem_strdup(text_string(&title));
    if (metrics_shown(metrics, m) == m)
        column.head = mem_printf("%s%s%s%s", metric->name, csv_state(metric), part ? ":" : "", part ? part : "");
    if (metrics_in_json(metrics, m) == m)
        column.key = metric->name;
    return column;
}

struct table_column table_view_column(const struct view *view, size_t metric, enum cost_part part)
{
    struct table_column column = table_cost_column(view->metrics, metric, part == INCLUSIVE ? "inclusive" : "exclusive",
                                                   columns_scale(view, metric), view_whole(view, metric));
    column.view = view;
    column.part = part;
    return column;
}

struct table_column table_percent_column(const struct table_column *cost, bool has_part)
{
    struct table_column column = *cost;
    column.title = NULL;
    column.head = mem_printf("%s%spercent_of_effort", cost->head, has_part ? "_" : ":");
    column.group = "percent_of_effort";
    column.kind = OF_PERCENT;
    return column;
}

void table_columns_free(table_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        if (columns->at[i].is_made) {
            free((char *)columns->at[i].title);
            free((char *)columns->at[i].head);
        }
    vec_free(columns);
}

static bool is_cost(const struct table_column *column)
{
    return column->kind == OF_COST || column->kind == OF_PERCENT;
}

static const char *text_of(const struct table_column *column, const void *value)
{
    return column->kind == OF_CHARS ? value : *(const char *const *)value;
}

static bool is_text(const struct table_column *column)
{
    return column->kind == OF_TEXT || column->kind == OF_CHARS;
}

/* A count; below 0: unknown. */
static int64_t integer_of(const struct table_column *column, const void *value)
{
    return column->kind == OF_UNSIGNED ? (int64_t) * (const unsigned *)value : *(const int64_t *)value;
}

static const struct metric *metric_of(const struct data_table *table, const struct table_column *column)
{
    return &table->metrics->at[column->metric];
}

static double cost_of(const struct table_column *column, const void *value)
{
    return column->view ? view_cost(column->view, *(const uint32_t *)value, column->metric, column->part)
                        : (*(const double *const *)value)[column->metric];
}

/* A double, a cost or a percentage; NAN: unknown. */
static double number_of(const struct data_table *table, const struct table_column *column, const void *value)
{
    if (!is_cost(column))
        return *(const double *)value;
    double cost = cost_of(column, value);
    if (column->kind == OF_PERCENT)
        return column->whole != 0 ? 100 * cost / column->whole : NAN;
    return metric_is_measured(metric_of(table, column)) ? cost : NAN;
}

/* ---- Text ---- */

static bool is_last(const struct table_column *column)
{
    return !is_cost(column) && !column->width;
}

/* The n-th column of text, from left to right: costs, the others, the last one; NULL: there are fewer. */
static const struct table_column *text_column(const struct data_table *table, size_t n)
{
    for (int place = 0; place < 3; place++)
        for (size_t i = 0; i < table->n_columns; i++) {
            const struct table_column *column = &table->columns[i];
            if (column->title && place == (is_cost(column) ? 0 : is_last(column) ? 2 : 1) && n-- == 0)
                return column;
        }
    return NULL;
}

/* Titles in as many lines as they need, flush right. */
static void write_heads(const struct data_table *table, struct writer *writer)
{
    struct column_titles titles = {0};
    const struct table_column *column;
    const char *last = NULL;
    for (size_t i = 0; (column = text_column(table, i)); i++)
        if (is_last(column))
            last = column->title;
        else
            column_titles_add(&titles, column->title, (size_t)column->width);
    while (column_titles_line(&titles, false, &writer->line)) {
        if (last)
            text_printf(&writer->line, "  %s", last);
        last = NULL;
        text_trim(&writer->line);
        writer_end_line(writer);
    }
    column_titles_free(&titles);
}

/* The words of a cell without costs. */
static void add_words(const struct table_column *column, const void *value, struct text *cell)
{
    if (is_text(column))
        text_add(cell, text_of(column, value) ? text_of(column, value) : "-");
    else if (column->kind == OF_DOUBLE && isfinite(*(const double *)value))
        text_printf(cell, "%.*f", column->decimals, *(const double *)value);
    else if (column->kind != OF_DOUBLE && integer_of(column, value) >= 0)
        text_printf(cell, "%" PRId64, integer_of(column, value));
    else
        text_add(cell, "-");
}

void table_write_lines(const struct data_table *table, struct writer *writer, size_t from, size_t to, bool has_shares)
{
    const struct table_column *column;
    for (size_t row = from; row < to; row++) {
        for (size_t i = 0; (column = text_column(table, i)); i++) {
            const void *value = value_of(table, row, column);
            autofree struct text words = {0};
            if (is_cost(column)) {
                columns_add_cell(metric_of(table, column), cost_of(column, value), &column->scale,
                                 has_shares ? column->whole : 0, (size_t)column->width - PERCENT_WIDTH, &writer->line);
                continue;
            }
            text_add(&words, is_last(column) ? "  " : "");
            add_words(column, value, &words);
            text_add_right(&writer->line, text_string(&words), (size_t)column->width);
        }
        writer_end_line(writer);
    }
}

/* ---- Markdown ---- */

/* A pipe table, for a table without costs: titles, the line that makes it a table and aligns it, rows. */
static void write_markdown(const struct data_table *table, struct writer *writer, size_t n)
{
    const struct table_column *column;
    for (size_t line = 0; line < n + 2; line++) {
        for (size_t i = 0; (column = text_column(table, i)); i++) {
            autofree struct text cell = {0};
            if (line == 0)
                text_add(&cell, column->title);
            else if (line > 1)
                add_words(column, value_of(table, line - 2, column), &cell);
            text_add(&writer->line, line == 1 ? is_last(column) ? "|---" : "|--:" : "| ");
            text_add_markdown(&writer->line, text_string(&cell));
            text_add(&writer->line, line == 1 ? "" : " ");
        }
        writer_line(writer, "|");
    }
}

/* ---- CSV ---- */

static void write_field(const struct data_table *table, const struct table_column *column, const void *value,
                        struct writer *writer)
{
    bool is_number = column->kind == OF_DOUBLE || is_cost(column);
    double number = is_number ? number_of(table, column, value) : NAN;
    if (is_text(column))
        csv_text(writer, text_of(column, value));
    else if (is_number && isfinite(number))
        csv_number(writer, number);
    else if (!is_number && integer_of(column, value) >= 0)
        csv_integer(writer, (uint64_t)integer_of(column, value));
    else
        csv_text(writer, is_number ? "-" : NULL);
}

void table_write_names(const struct data_table *table, struct writer *writer)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].head)
            csv_text(writer, table->columns[i].head);
    csv_end_record(writer);
}

void table_write_records(const struct data_table *table, struct writer *writer)
{
    for (size_t row = 0; row < table->n_rows; row++) {
        for (size_t i = 0; i < table->n_columns; i++)
            if (table->columns[i].head)
                write_field(table, &table->columns[i], value_of(table, row, &table->columns[i]), writer);
        csv_end_record(writer);
    }
}

/* ---- JSON ---- */

static void write_value(const struct data_table *table, const struct table_column *column, const void *value,
                        struct json_writer *json)
{
    switch (column->kind) {
    case OF_TEXT:
    case OF_CHARS: json_write_string(json, text_of(column, value)); break;
    case OF_UNSIGNED:
    case OF_INTEGER:
        if (integer_of(column, value) >= 0)
            json_write_integer(json, integer_of(column, value));
        else
            json_write_null(json);
        break;
    case OF_JSON: column->write(*(const json_t *const *)value, json); break;
    case OF_DOUBLE:
    case OF_COST:
    case OF_PERCENT: json_write_double(json, number_of(table, column, value)); break;
    }
}

static bool is_in_group(const struct table_column *column, const char *group)
{
    return column->key && (group ? column->group && strcmp(column->group, group) == 0 : !column->group);
}

/* Writes the member that begins at a column; columns with the same key are one array. Returns the next column. */
static size_t write_member(const struct data_table *table, size_t row, size_t first, struct json_writer *json)
{
    size_t end = first + 1;
    while (end < table->n_columns && table->columns[end].key &&
           strcmp(table->columns[end].key, table->columns[first].key) == 0 &&
           is_in_group(&table->columns[end], table->columns[first].group))
        end++;
    json_write_key(json, table->columns[first].key);
    if (end > first + 1)
        json_write_array(json);
    for (size_t i = first; i < end; i++)
        write_value(table, &table->columns[i], value_of(table, row, &table->columns[i]), json);
    if (end > first + 1)
        json_write_array_end(json);
    return end;
}

void table_write_group(const struct data_table *table, struct writer *writer, size_t row, const char *group, const char *key)
{
    json_print(&writer->json, "%s:{", key);
    for (size_t i = 0; i < table->n_columns;)
        i = is_in_group(&table->columns[i], group) ? write_member(table, row, i, &writer->json) : i + 1;
    json_print(&writer->json, "}");
}

/* Whether a column is the first of its group. */
static bool begins_group(const struct data_table *table, size_t column)
{
    const char *group = table->columns[column].group;
    size_t i = 0;
    while (group && i < column && !(table->columns[i].group && strcmp(table->columns[i].group, group) == 0))
        i++;
    return group && i == column;
}

void table_write_members(const struct data_table *table, struct writer *writer, size_t row)
{
    for (size_t i = 0; i < table->n_columns;) {
        const struct table_column *column = &table->columns[i];
        if (column->key && !column->group) {
            i = write_member(table, row, i, &writer->json);
            continue;
        }
        if (begins_group(table, i))
            table_write_group(table, writer, row, column->group, column->group);
        i++;
    }
}

void table_write_objects(const struct data_table *table, struct writer *writer, size_t from, size_t to)
{
    for (size_t row = from; row < to; row++) {
        json_print(&writer->json, "\n{");
        table_write_members(table, writer, row);
        json_print(&writer->json, "}");
    }
}

void table_write(const struct data_table *table, struct writer *writer, const char *key, size_t n)
{
    struct json_writer *json = &writer->json;
    if (writer->format == FORMAT_TEXT) {
        write_heads(table, writer);
        table_write_lines(table, writer, 0, n, true);
    } else if (writer->format == FORMAT_MARKDOWN) {
        write_markdown(table, writer, n);
    } else if (writer->format == FORMAT_CSV) {
        table_write_names(table, writer);
        table_write_records(table, writer);
    } else {
        if (table->metrics)
            json_put_metrics(json, "metrics", table->metrics);
        json_print(json, "%s:[", key);
        table_write_objects(table, writer, 0, n);
        json_print(json, "]");
    }
}
