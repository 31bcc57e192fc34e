/* How the database names threads: identifier tuples of node, rank, process and thread
 * (doc/FORMAT-database.md, section 1). */
#ifndef HPCPROF_ID_TUPLES_H
#define HPCPROF_ID_TUPLES_H

#include "hpcprof/attribution/projection.h"

#include "lib/database-format.h"

enum id_kind { ID_SUMMARY, ID_NODE, ID_RANK, ID_PROCESS, ID_THREAD, ID_KINDS };

extern const char *const id_kind_names[ID_KINDS];

struct id_tuple {
    struct v4_id_tuple head;
    struct v4_id ids[ID_KINDS];
};

/* The tuple of each profile; the caller frees. */
struct id_tuple *id_tuples(const struct inputs *inputs, const struct fused *fused);

/* Its size in the file. */
size_t id_tuple_size(const struct id_tuple *tuple);

#endif
