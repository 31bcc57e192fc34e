/* Prints how the runs of a set scale: as text, CSV, JSON or a plot. */
#ifndef VIEWER_PRINT_SCALING_H
#define VIEWER_PRINT_SCALING_H

#include "viewer-tui/output/print.h"
#include "viewer-tui/scaling/scaling-table.h"

#include "lib/run-set.h"

void print_scaling(const struct run_set *set, const struct scaling_table *table, enum format format,
                   FILE *out);

/* The plot as a drawing. */
void print_scaling_svg(const char *command, const struct scaling_table *table, FILE *out);

#endif
