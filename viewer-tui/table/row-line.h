/* A row of a tree as a line: its costs, then marker, call and name, then its place.
 *
 *      500.0 ms  62.5%  250.0 ms  31.2%  ▾ solve  solver.c:12
 *
 * Printers write the text as it is; screens draw its parts in their styles. */
#ifndef VIEWER_ROW_LINE_H
#define VIEWER_ROW_LINE_H

#include "viewer-tui/table/columns.h"

/* How costs look. */
struct cell_style {
    bool has_bars; /* in place of percentages */
    bool ascii;
};

enum line_part_kind { LINE_COST, LINE_NAME, LINE_PLACE, LINE_PARTS };

struct line_part {
    enum line_part_kind kind;
    size_t at, n; /* bytes in the text */
    double share; /* of a cost: what it is of the whole, for its color */
};

/* A zeroed one is empty; the owner frees text and parts with vec_free. */
struct row_line {
    struct text text;
    VEC(struct line_part) parts; /* from left to right: a cost for each column, the name, the place if it is known */
    size_t name_at;              /* byte of the text where the name begins, after marker and call */
};

/* What stands before the name. */
struct row_label {
    const char *marker;
    const char *hidden; /* rows that this line stands for, too: "main > ... > ", in place of the call; NULL: none */
    size_t room;        /* screen columns from the marker on: longer names are shortened as far as possible */
};

/* Makes the line in place of the one before. `indent`: spaces between costs and marker. */
void row_line_make(struct row_line *line, const struct cell_style *style, const struct view *view, uint32_t row,
                   const struct columns *columns, size_t indent, const struct row_label *label);

#endif
