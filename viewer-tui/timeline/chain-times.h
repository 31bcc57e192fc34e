/* What threads did in the pieces of a chain (longest-chain.h), by procedure: an estimate from samples.
 *
 * How long each thread is on the chain is known from its wake-ups. The samples whose time lies in the thread's pieces
 * divide that among procedures, by their amounts. Samples of CPU time have none of a time off the CPU: that is a gap of
 * more than two mean intervals between samples, less the one interval of CPU time in it. It belongs to the procedure of the
 * sample after it. Pieces that are not known are left out. */
#ifndef VIEWER_CHAIN_TIMES_H
#define VIEWER_CHAIN_TIMES_H

#include "viewer-tui/timeline/longest-chain.h"

enum chain_part {
    CHAIN_IN_PROCEDURE,
    CHAIN_IDLE,      /* a worker without work; its samples have no call path */
    CHAIN_UNSAMPLED, /* the thread has no sample in its pieces, or none from a time off the CPU on */
    CHAIN_WAKING,    /* from the release of a thread until it went on */
    CHAIN_PARTS
};

struct chain_time {
    uint32_t thread; /* index in timeline->threads */
    enum chain_part part;
    uint32_t procedure; /* of CHAIN_IN_PROCEDURE; NOTHING: unknown */
    double ns, waiting; /* waiting: of that, the thread slept, or waited without a known waker; by CPU time: was off the CPU */
    uint64_t samples; /* in it, as far as the time line has them: by them the time is estimated */
};

struct chain_times {
    VEC(struct chain_time) list; /* ascending by thread, part and procedure */
    double unknown;     /* ns of pieces that are not known */
    uint64_t n_unknown; /* waits on the chain without a known waker */
};

/* `procedures`: numbers below n_procedures by place, or NOTHING. The owner frees the list with vec_free. */
struct chain_times chain_times_find(const struct timeline *timeline, const chain_pieces *pieces,
                                    const uint32_t *procedures, uint32_t n_procedures);

#endif
