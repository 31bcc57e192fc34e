/* Writes run.json: what a run is about and the v4 format has no place for
 * (doc/FORMAT-database.md, section 2). */
#ifndef HPCPROF_RUN_JSON_H
#define HPCPROF_RUN_JSON_H

#include "hpcprof/tree/unknown-call-sites.h"
#include "hpcprof/attribution/thread-creations.h"

/* What it is made of. */
struct run_facts {
    const struct inputs *inputs;
    const struct program *program;
    const struct creations *creations;
    const struct context_ids *no_call_site; /* contexts of calls from sites that are not known */
};

void run_json_write(const char *path, const char *title, const struct run_facts *facts);

#endif
