/* The threads of the time line, on one clock.
 *
 * The records of measurements have times of CLOCK_MONOTONIC, which counts since the host was started. They become
 * nanoseconds since the epoch by the difference of the two clocks in the process that began first, of those of
 * one host and one measurement directory: later steps of the wall clock do not tear a run apart, and runs between
 * which the host was started again do not overlap.
 *
 * All ranks of a team have the same list; the records of a thread are with the rank that read its file. */
#ifndef HPCPROF_TRACED_THREADS_H
#define HPCPROF_TRACED_THREADS_H

#include "hpcprof/measurement/measurements.h"

struct traced_thread {
    uint32_t
        index; /* among all threads of all files; its profile in profile.db has this index + 1 */
    bool is_elsewhere;                       /* another rank has its records */
    const struct measurement *m;             /* its file */
    const struct measurement_thread *thread; /* of this rank, if it has the records */
    uint64_t n_records;
    uint64_t step;    /* samples for a record */
    uint64_t n_wake_ups, wake_up_step, wake_up_window;
    int64_t to_epoch; /* what is added to CLOCK_MONOTONIC, ns */
};

struct traced_threads {
    const struct measurements *measurements;
    VEC(struct traced_thread) all; /* those whose times are known, ascending by index */
    uint32_t event;                /* the records' event, an index in measurements.events */
    uint64_t begin, end;           /* of all processes and records, ns since the epoch */
    int64_t *to_epoch;             /* by file; NO_CLOCK: unknown */
};

#define NO_CLOCK INT64_MIN

/* Finds the threads whose process and thread records are intact. Returns false if there are no records of
 * a time line. All ranks of a team call it. */
bool traced_threads_find(struct traced_threads *threads, const struct measurements *measurements);

void traced_threads_free(struct traced_threads *threads);

/* The wake-ups of a thread that other threads of the file have caused; the first one is its creation. Those that are
 * NULL are only counted. Returns their number. `thread` of each is an index in m->threads. */
size_t traced_wake_ups(const struct measurement *m, const struct measurement_thread *thread,
                       struct measurement_wake_up *wake_ups);

/* A time of CLOCK_MONOTONIC in ns since the begin of the time line; not before it. */
uint64_t traced_time(const struct traced_threads *threads, int64_t to_epoch, uint64_t monotonic);

#endif
