/* What the steps before attribution look at in a thread's tree: little of it. hpcprof-mpi sends this
 * to the ranks that did not read the file.
 *
 *     looked at by                   kept
 *     thread-creations, thread-root  the paths of creations and joins, of threads that it created
 *     construct-names                each different pair of a caller that an agent inserted code for
 *                                    and what it calls
 *     symbol-table                   each different lock with a `lock wait`, and one such value
 *     measurements, executables      one value of each metric that has any
 *
 * Nodes keep their order, so whoever numbers things as they come numbers them alike with the whole
 * tree and with its digest. */
#ifndef HPCPROF_THREAD_DIGEST_H
#define HPCPROF_THREAD_DIGEST_H

#include "lib/measurement.h"

struct thread_digest {
    VEC(struct measurement_node) nodes;
    VEC(struct measurement_value) values;
    uint32_t *new_index; /* by node of the thread: its index in nodes, if it is on a kept path */
};

/* Makes the digest of a thread, given by its index in m->threads; `digest` is zeroed. */
void thread_digest_make(struct thread_digest *digest, const struct measurement *m, size_t thread);

void thread_digest_free(struct thread_digest *digest);

#endif
