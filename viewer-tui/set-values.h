/* The values of a set's runs: times from its index, costs from their databases. */
#ifndef VIEWER_SET_VALUES_H
#define VIEWER_SET_VALUES_H

#include "viewer-tui/scaling/scaling-table.h"

#include "lib/run-set.h"

/* Reads the runs that ended with status 0, and runs hpcprof on those that have no database beside
 * them. A run whose database cannot be had only has its time; that is reported. The caller frees
 * with vec_free. */
run_value_list set_values(const char *folder, const struct run_set *set);

#endif
