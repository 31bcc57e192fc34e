/* A table: rows and columns, which one writer (writer.h) makes text, CSV or JSON of.
 *
 *     static const struct table_column columns[] = {
 *         {"workers", "workers", "workers", .kind = OF_UNSIGNED, .place = offsetof(struct row, workers), .width = 9},
 *         {"T_P, s", "time", "time", .kind = OF_DOUBLE, .place = offsetof(struct row, time), .width = 9, .decimals = 3},
 *     };
 *     struct data_table table = {columns, 2, rows, sizeof *rows, n_rows};
 *     table_write(&table, writer, "rows", n_rows);
 *
 * A row is a structure of the caller, and a cell the member at column->place. What is unknown is "-" among numbers and
 * an empty field among texts and counts; JSON has null.
 *
 * JSON: an object for each row. Adjacent columns with the same key are one array, e.g. an interval. Columns of a group
 * are members of an object with its name, wherever they stand; it comes where its first column stands. A column without
 * a key that begins a group stands for an object that may be empty.
 *
 * Text: costs come first, on the left, where they line up; then the others in their order. */
#ifndef VIEWER_TABLE_H
#define VIEWER_TABLE_H

#include "viewer-tui/table/writer.h"

enum value_kind {
    OF_TEXT,     /* const char *, in columns of text safe for terminals (text_add_clean); NULL: unknown */
    OF_CHARS,    /* the same, in the row itself */
    OF_UNSIGNED, /* unsigned */
    OF_INTEGER,  /* int64_t; below 0: unknown */
    OF_DOUBLE,   /* double; NAN: unknown */
    OF_COST,     /* const double *, the values by metric; of a column with a view uint32_t, the number of its row */
    OF_PERCENT,  /* the same, in percent of column->whole */
    OF_JSON      /* const json_t *, written by column->write; JSON only */
};

struct table_column {
    const char *title; /* above the column of text; NULL: text has no such column */
    const char *head;  /* in the first record of CSV; NULL: CSV has none */
    const char *key;   /* of the member in JSON; NULL: JSON has none */
    const char *group; /* JSON: the object that has the member; NULL: the row */
    enum value_kind kind;
    size_t place; /* offset of the value in a row */
    int width;    /* of text, flush right; 0: the last column, after two spaces, as long as it is */
    int decimals; /* of doubles in text */
    size_t metric;
    const struct view *view; /* costs are those of its rows; NULL: of arrays */
    enum cost_part part;     /* of the view's */
    struct number_scale scale; /* of costs in text */
    double whole;              /* what a cost is shown as a percentage of; NAN: none is */
    void (*write)(const json_t *value, struct json_writer *json);
    bool is_made; /* title and head are of the heap (table_columns_free) */
};

/* Columns that are made at run time. */
typedef VEC(struct table_column) table_columns;

/* The column of a metric's costs, in text, CSV and JSON as far as these show the metric. Its head is "NAME" or
 * "NAME:PART"; in JSON it is a member of "metrics". The caller adds place and width. */
struct table_column table_cost_column(const struct metrics *metrics, size_t metric, const char *part,
                                      struct number_scale scale, double whole);

/* The same for one part of the costs of a view's rows. */
struct table_column table_view_column(const struct view *view, size_t metric, enum cost_part part);

/* The percentages of effort of such a column, in CSV and JSON. */
struct table_column table_percent_column(const struct table_column *cost, bool has_part);

void table_columns_free(table_columns *columns);

struct data_table {
    const struct table_column *columns;
    size_t n_columns;
    const void *rows;
    size_t row_size, n_rows;
    const struct metrics *metrics; /* of costs */
};

/* Rows as lines of text. `has_shares`: costs have their percentages. */
void table_write_lines(const struct data_table *table, struct writer *writer, size_t from, size_t to, bool has_shares);

/* A page that is a table, below its head (writer_head): in text and Markdown the first `n` rows; in CSV all; in JSON
 * "metrics", if it has costs, and an array `key` of the first `n`. */
void table_write(const struct data_table *table, struct writer *writer, const char *key, size_t n);

/* The two parts of CSV, for rows that are made one by one. */
void table_write_names(const struct data_table *table, struct writer *writer);
void table_write_records(const struct data_table *table, struct writer *writer);

/* The members of a row; the objects of rows, as elements of an array in the making; the members of one group, as an
 * object. */
void table_write_members(const struct data_table *table, struct writer *writer, size_t row);
void table_write_objects(const struct data_table *table, struct writer *writer, size_t from, size_t to);
void table_write_group(const struct data_table *table, struct writer *writer, size_t row, const char *group,
                       const char *key);

#endif
