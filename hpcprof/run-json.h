/* Writes run.json: what a run is about and the v4 format has no place for
 * (lib/FORMAT-database.md, section 2). */
#ifndef HPCPROF_RUN_JSON_H
#define HPCPROF_RUN_JSON_H

#include "hpcprof/call-sites.h"
#include "hpcprof/inputs.h"

/* `no_call_site`: ids of contexts of calls from sites that are not known. */
void run_json_write(const char *path, const char *title, const struct inputs *inputs,
                    const struct context_ids *no_call_site);

#endif
