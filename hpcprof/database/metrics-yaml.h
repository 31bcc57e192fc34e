/* Writes metrics/default.yaml, the taxonomy that viewers of HPCToolkit's databases show: every
 * metric's sum, inclusive and exclusive. */
#ifndef HPCPROF_METRICS_YAML_H
#define HPCPROF_METRICS_YAML_H

#include "hpcprof/measurement/measurements.h"

void metrics_yaml_write(const char *path, const struct inputs *inputs);

#endif
