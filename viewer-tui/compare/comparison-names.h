/* What the sides of a comparison are called. */
#ifndef VIEWER_COMPARISON_NAMES_H
#define VIEWER_COMPARISON_NAMES_H

#include "viewer-tui/metrics/metric.h"

/* Short names that tell two paths apart: of "runs/p4/database" and "runs/p8/database" "p4" and
 * "p8", of "database" and "database-2" just these. The same path twice: "A" and "B". The caller
 * frees. */
void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES]);

/* Splits "LEFT,RIGHT"; false when these are not two names that differ. The caller frees them. */
bool comparison_names_in(const char *list, char *names[SIDES]);

#endif
