/* The propagation scopes of the database, in the order of metric ids: metric m, scope s has the id
 * PROPAGATIONS * m + s (doc/FORMAT-database.md, section 1). */
#ifndef HPCPROF_PROPAGATION_H
#define HPCPROF_PROPAGATION_H

#include <stdint.h>

enum propagation_scope {
    PROPAGATE_POINT,
    PROPAGATE_FUNCTION,
    PROPAGATE_LEX_AWARE,
    PROPAGATE_EXECUTION,
    PROPAGATIONS
};

extern const char *const propagation_names[PROPAGATIONS];

/* More metrics than this do not fit into the ids of the v4 format. */
#define MAX_METRICS (UINT16_MAX / PROPAGATIONS)

#endif
