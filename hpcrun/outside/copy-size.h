/* How many bytes of the top of its stack perf copies with each sample of a thread. A deeper stack can be read later, if
 * its end has not changed meanwhile (foreign-memory.h); a larger copy takes more time and more of the rings. All
 * measured processes have the same size, as their events are opened together.
 *
 *   begin    the largest size for which there is much room
 *   shrinks  to the least one that had all that unwinding asked for but in 1 of 1000 samples, after 500 samples;
 *            after each growth, it takes twice as many
 *   grows    by one size when 2 samples, and more than 1 of 1000, asked for more that was no longer there, to the largest
 *            one for which there is room
 *   overload it shrinks by one size when 1 of 50 samples is lost, and does not grow again beyond that one */
#ifndef HPCRUN_OUTSIDE_COPY_SIZE_H
#define HPCRUN_OUTSIDE_COPY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* The largest leaves room for the other fields of a record, which has 64 KB at most. */
#define COPY_SIZES       5
#define COPY_SIZE(index) ((unsigned)(index) < 4 ? 4096u << (index) : 60u << 10)

/* The index of the least size with so many bytes; COPY_SIZES: none has. */
unsigned copy_size_for(uint64_t bytes);

/* Numbers of samples: by the index of the size that they asked for; and those that were lost. */
struct copy_demand {
    uint64_t asked[COPY_SIZES + 1], lost;
};

struct copy_size {
    unsigned index, most;
    uint64_t to_shrink;       /* number of samples */
    struct copy_demand since; /* the last change */
};

/* `first_bytes`, `most_bytes`: what there is room for. */
void copy_size_begin(struct copy_size *size, uint64_t first_bytes, uint64_t most_bytes);

/* Takes the demand since the last call into account. Returns whether the size changes. */
bool copy_size_fit(struct copy_size *size, const struct copy_demand *news);

#endif
