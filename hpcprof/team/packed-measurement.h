/* Measurements as bytes, for the other ranks of a team: all but the trees of the threads, which
 * their digests replace (thread-digest.h). */
#ifndef HPCPROF_PACKED_MEASUREMENT_H
#define HPCPROF_PACKED_MEASUREMENT_H

#include "hpcprof/team/team.h"

#include "lib/measurement.h"

/* Appends a measurement. */
void measurement_pack(struct team_bytes *bytes, const struct measurement *m);

/* The measurement at *at, which moves behind it. The bytes are what measurement_pack wrote in a rank
 * of the same team. The caller frees the result with measurement_free. */
struct measurement *measurement_unpack(const uint8_t **at);

#endif
