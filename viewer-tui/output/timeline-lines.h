/* The parts of a time line, for printers and screens. */
#ifndef VIEWER_TIMELINE_LINES_H
#define VIEWER_TIMELINE_LINES_H

#include "viewer-tui/output/open-timeline.h"
#include "viewer-tui/output/time-looks.h"

#include <limits.h>

struct timeline_lines {
    struct open_timeline *open;
    struct procedure_letters letters; /* freed by the owner, with vec_free */
    bool ascii;
    bool has_symbol[UCHAR_MAX + 1]; /* what timeline_look has shown; upper-case letters */
    size_t label_width; /* columns left of the cells */
};

/* Columns for labels that suit the rows on a line of `width` columns. */
size_t timeline_label_width(const struct open_timeline *open, size_t width);

/* Adds the label of a row, padded; of a longer one the middle is left out. */
void timeline_line_label(const struct timeline_lines *lines, size_t row, struct text *out);

/* A line of the strip in a column: threads in a state, or CPUs. */
double timeline_strip_value(const struct timeline_lines *lines, size_t line, size_t column);

/* Adds the label of a line of the strip, with the mean over the window: "working         3.42 "; nothing, and
 * false, if nothing is in the line, or it is none. */
bool timeline_strip_label(const struct timeline_lines *lines, size_t line, struct text *out);

/* The lines of the strip: of an event that counts something else than time without the CPUs used. */
size_t timeline_strip_lines(const struct timeline_lines *lines);

/* The value that fills a line of the strip: the largest one of any. */
double timeline_strip_most(const struct timeline_lines *lines);

/* Nanoseconds of a column. */
double timeline_column_length(const struct timeline_lines *lines);

/* The look of a cell (time-looks.h), for the legend to have it. */
struct time_look timeline_look(struct timeline_lines *lines, const struct time_cell *cell);

/* The next entry, from *at = 0 on, of the legend of what cells show: its name, symbol and color; false if there are no
 * more. Of procedures it has those that timeline_look has shown; of equal names it tells the places. */
bool timeline_legend(const struct timeline_lines *lines, size_t *at, char *symbol, enum time_color *color,
                     struct text *name);

/* Adds what is shown: "0.10 s to 2.80 s of 10.0 s, states, a column is 28 ms". If that takes more than `most` columns,
 * "states", then the last part is left out. */
void timeline_add_title(const struct timeline_lines *lines, size_t most, struct text *out);

/* ---- printers ---- */

/* The strip alone, with its axis, as an element of a page for browsers. */
void print_timeline_strip(struct timeline_lines *lines, FILE *out);

void print_timeline_svg(struct timeline_lines *lines, const char *command, FILE *out);
void print_timeline_chrome(struct timeline_lines *lines, const char *command, FILE *out);

#endif
