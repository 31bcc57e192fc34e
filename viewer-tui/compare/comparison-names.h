/* Names of the two sides of a comparison. */
#ifndef VIEWER_COMPARISON_NAMES_H
#define VIEWER_COMPARISON_NAMES_H

#include "viewer-tui/metrics/metric.h"

/* Short names that tell two paths apart: "p4" and "p8" of "runs/p4/database" and
 * "runs/p8/database"; "database" and "database-2" of themselves; "A" and "B" if the paths are
 * equal. The caller frees. */
void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES]);

/* The same for lists of repeated runs, "p4-1,p4-2,p4-3": of the first of each, without the number at its end; "base"
 * and "new" if that tells nothing apart. The caller frees. */
void comparison_names_of_lists(const char *const lists[SIDES], char *names[SIDES]);

/* Splits "LEFT,RIGHT"; false unless these are two different names. The caller frees them. */
bool comparison_names_in(const char *list, char *names[SIDES]);

#endif
