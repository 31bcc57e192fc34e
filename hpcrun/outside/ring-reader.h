/* A ring of perf's records in memory that the kernel writes. */
#ifndef HPCRUN_OUTSIDE_RING_READER_H
#define HPCRUN_OUTSIDE_RING_READER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_PAGE 4096u /* before the data */

struct ring {
    unsigned cpu;
    int fd;                            /* an event of this process without samples: the ring stays when others end */
    struct perf_event_mmap_page *page; /* NULL: no ring */
    size_t bytes;                      /* of the data, a power of two */
    uint64_t head, next;               /* of what is being read */
};

/* Begins to read what is there; takes what was read until then away. */
void ring_begin(struct ring *ring);
void ring_end(struct ring *ring);

/* The first record that was not skipped, in place or as a copy, which is valid until the next call for any ring; NULL:
 * there is none. What follows a damaged one is skipped. */
const struct perf_event_header *ring_first(struct ring *ring);
static inline void ring_skip(struct ring *ring, const struct perf_event_header *record)
{
    ring->next += record->size;
}

/* The youngest sample, at *position or later, that is no switch. It may be overwritten meanwhile, so its content is to
 * be checked. Moves *position to the end. False: there is none. */
struct sample_instant {
    int pid, tid;
    uint64_t time;
    uint64_t stack_end; /* address of the first byte of its stack that the copy lacks; 0: it lacks none */
};
bool ring_youngest(const struct ring *ring, uint64_t *position, struct sample_instant *found);

#endif
