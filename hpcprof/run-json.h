/* Writes run.json: what a run is about and the v4 format has no place for
 * (lib/FORMAT-database.md, section 2). */
#ifndef HPCPROF_RUN_JSON_H
#define HPCPROF_RUN_JSON_H

#include "hpcprof/inputs.h"

void run_json_write(const char *path, const char *title, const struct inputs *inputs);

#endif
