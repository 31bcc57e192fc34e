/* Prints how the runs of a set scale: as text, CSV, JSON or a plot. */
#ifndef VIEWER_PRINT_SCALING_H
#define VIEWER_PRINT_SCALING_H

#include "viewer-tui/output/print.h"
#include "viewer-tui/scaling/scaling-table.h"

#include "lib/run-set.h"

void print_scaling(const struct run_set *set, const struct scaling_table *table, enum format format,
                   FILE *out);

/* The page of text, which the caller frees; NULL: there is no memory. The row of the first number of workers begins at
 * *rows_at. Without the numbers of runs and the intervals if lines of `width` columns have no room for them. */
char *scaling_text(const struct run_set *set, const struct scaling_table *table, size_t width, size_t *rows_at);

/* The plot as a drawing. */
void print_scaling_svg(const char *command, const struct scaling_table *table, FILE *out);

#endif
