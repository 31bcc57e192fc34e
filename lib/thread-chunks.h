/* Signal handler: everything here may be used there.
 *
 * The data of a thread as chunks of the measurement file (doc/FORMAT-hpcrun.md, sections 5.16 to 5.25).
 *
 * While a thread runs, its data has one form: an image, and arrays of nodes, logical notes and values
 * (lib/arena-format.h), in a mapped file if possible. This is the only code that turns it into chunks.
 * hpcrun writes them when the thread ends, or from time to time where nothing can be mapped; the reader
 * of arena files makes them of what a killed process has left, and decodes them at once. */
#ifndef LIB_THREAD_CHUNKS_H
#define LIB_THREAD_CHUNKS_H

#include "lib/arena-format.h"
#include "lib/chunk.h"

enum arena_array { ARENA_NODES, ARENA_LNOTES, ARENA_VALUES, ARENA_TRACE, ARENA_MARKS, ARENA_WAKE_UPS };

/* A thread, and where its chunks go. The first member of what the two functions need. */
struct thread_chunks {
    const struct arena_thread *image;
    struct chunk *chunk; /* each chunk is built here */
    uint32_t metrics;    /* amounts in a record of values */
    /* A published item of an array; valid until the next call for the same array. NULL: it is not there,
     * since the file is damaged. */
    const void *(*item)(struct thread_chunks *thread, enum arena_array array, uint32_t index);
    /* Takes the chunk. False if that fails. */
    bool (*commit)(struct thread_chunks *thread);
};

/* What THREAD CLOCK has. */
struct thread_clocks {
    uint64_t wall, cpu;
    bool ended;
    uint64_t ready, timeslices; /* ready: plus 1; 0: unknown */
};

/* Each returns false if something is not there or could not be committed. What is before it was. */
bool thread_chunks_identity(struct thread_chunks *thread);
bool thread_chunks_clocks(struct thread_chunks *thread, const struct thread_clocks *clocks);

/* Writes the nodes from *first on, and sets *first to the first one that was not committed. */
bool thread_chunks_nodes(struct thread_chunks *thread, uint32_t *first);

/* Those of nodes that have several. A reader collects them, so it does no harm to write them again. */
bool thread_chunks_associations(struct thread_chunks *thread);

/* Writes the values of nodes, and sets *end to the node after the last one whose values were committed. */
bool thread_chunks_values(struct thread_chunks *thread, uint32_t *end);

/* Of one event; nothing if there are none. */
bool thread_chunks_fates(struct thread_chunks *thread, unsigned event);

bool thread_chunks_joins(struct thread_chunks *thread);

/* Two instants on both clocks, by which ticks become CLOCK_MONOTONIC, ns. */
struct tick_times {
    uint64_t began_ticks, began_wall, ticks, wall;
};

/* The time at `ticks`. Without a rate (the two instants are the same, or the program has forbidden the
 * counter, process/process.h), it is the later instant's. */
uint64_t tick_time(const struct tick_times *times, uint64_t ticks);

/* Writes the trace, and sets *written to the number of its records that were committed (lib/trace-chunks.c). */
bool thread_chunks_trace(struct thread_chunks *thread, const struct tick_times *times,
                         uint32_t *written);

/* Writes the marks from *first on, and how many are lost, and sets *first to the first mark that was not
 * committed. */
bool thread_chunks_marks(struct thread_chunks *thread, const struct tick_times *times, uint32_t *first);

/* Writes the wake-ups, and which of them are left out. Nothing if there are none, or if `times` do not give the length of
 * a tick. */
bool thread_chunks_wake_ups(struct thread_chunks *thread, const struct tick_times *times);

#endif
