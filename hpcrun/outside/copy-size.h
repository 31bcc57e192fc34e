/* How many bytes of the top of its stack perf copies with each sample of a thread. A deeper stack can be read later, if
 * its end has not changed meanwhile (foreign-memory.h); a larger copy takes more time and more of the rings. All
 * measured processes have the same size, as their events are opened together.
 *
 *   begin     the largest size of at most first_bytes. If the reader has had too little CPU time to read all samples,
 *             fewer
 *   shrink    after 500 samples: to the smallest size that is too small for at most 1 per 1000 samples. Each growth
 *             doubles the 500, up to 1 million
 *   grow      by one size, up to most_bytes: when the copy was too small for 2 samples, and for more than 1 per 1000,
 *             and the rest of the stack had changed before it could be read, or was read at once (frame-catcher.h)
 *   overload  when more than 20 per 1000 samples are lost: shrinks by one size, which is then the largest one. Where
 *             copies have the smallest size, the time between two samples doubles instead, up to MOST_SLOWDOWN times,
 *             for good */
#ifndef HPCRUN_OUTSIDE_COPY_SIZE_H
#define HPCRUN_OUTSIDE_COPY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_SLOWDOWN 6

/* The largest leaves room for the other fields of a record, which has 64 KB at most. */
#define COPY_SIZES       5
#define COPY_SIZE(index) ((unsigned)(index) < 4 ? 4096u << (index) : 60u << 10)

/* The index of the smallest size of at least `bytes` bytes; COPY_SIZES: all sizes are smaller. */
unsigned copy_size_for(uint64_t bytes);

/* Numbers of samples. */
struct copy_demand {
    uint64_t asked[COPY_SIZES + 1]; /* by the index of the size that unwinding needed (copy_size_for) */
    uint64_t lost;
};

struct copy_size {
    unsigned index, most;     /* of the present size, of the largest one that is allowed */
    unsigned slowdown;        /* how often the time between two samples has been doubled */
    uint64_t to_shrink;       /* number of samples after which it may shrink */
    struct copy_demand since; /* the last change of the size */
};

/* Returns a time in ns: at the begin, the rings should have room for the samples of so long. `threads`: that the
 * measured processes have. `ready`, `slices`: the reader has run `slices` times, and has waited `ready` ns in all for a
 * CPU before. */
uint64_t copy_size_first_time(unsigned threads, uint64_t ready, uint64_t slices);

/* Bytes of a copy that the rings have room for: of the first copies, and of all later ones. */
void copy_size_begin(struct copy_size *size, uint64_t first_bytes, uint64_t most_bytes);

/* Before the first sample. At the full rate, the reader and a worker each need `needed` ns of CPU time for a second of
 * a CPU's samples. They have a CPU for one of `parts` of the time that they want one. The measured threads have no more
 * than that each, unless they are preferred: all together threads / parts of `cpus` CPUs. Doubles the time between two
 * samples until the CPU time is enough; returns whether it had to. */
bool copy_size_slow_down(struct copy_size *size, uint64_t needed, uint64_t parts, uint64_t threads, unsigned cpus);

/* `news`: the demand since the last call. Returns whether the size or the slowdown changes. */
bool copy_size_fit(struct copy_size *size, const struct copy_demand *news);

#endif
