/* Writes profile.db: the values of every thread, context by context, and of all together. */
#ifndef HPCPROF_PROFILE_DB_H
#define HPCPROF_PROFILE_DB_H

#include "hpcprof/database/value-propagation.h"

void profile_db_write(const char *path, const struct contexts *contexts,
                      const struct inputs *inputs, struct fused *fused, unsigned workers);

#endif
