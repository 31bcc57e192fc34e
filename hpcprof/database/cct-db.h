/* Writes cct.db: the values of profile.db, but the summary, context by context and metric by
 * metric. */
#ifndef HPCPROF_CCT_DB_H
#define HPCPROF_CCT_DB_H

#include <stddef.h>

/* Reads them from the finished `profile_db`. `contexts` counts context 0; ids of metrics are below
 * `metric_ids`. */
void cct_db_write(const char *path, const char *profile_db, size_t contexts, size_t metric_ids,
                  unsigned workers);

#endif
