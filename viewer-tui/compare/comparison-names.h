/* Names of the two sides of a comparison. */
#ifndef VIEWER_COMPARISON_NAMES_H
#define VIEWER_COMPARISON_NAMES_H

#include "viewer-tui/metrics/metric.h"

/* Short names that tell two paths apart: "p4" and "p8" of "runs/p4/database" and
 * "runs/p8/database"; "database" and "database-2" of themselves; "A" and "B" if the paths are
 * equal. The caller frees. */
void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES]);

/* Splits "LEFT,RIGHT"; false unless these are two different names. The caller frees them. */
bool comparison_names_in(const char *list, char *names[SIDES]);

#endif
