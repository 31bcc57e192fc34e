/* The processes whose records the reader of perf's rings gets, and what it must know of each before that has
 * a worker: most children end without a sample, and need none.
 *
 * A process's mappings are a list of records, the youngest first. The child of a fork begins with its parent's
 * list, and both add to it: so the older part has several owners. */
#ifndef HPCRUN_OUTSIDE_TRACED_PROCESSES_H
#define HPCRUN_OUTSIDE_TRACED_PROCESSES_H

#include "hpcrun/outside/mapping.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/record-queue.h"
#include "lib/measurement-format.h"

#include <sys/types.h>

struct traced_map {
    struct traced_map *older;
    uint64_t start, end;
    struct perf_event_header *record; /* PERF_RECORD_MMAP2 */
    unsigned owners;
};

struct traced {
    struct traced *next; /* with a pid of the same slot */
    int pid, parent;
    bool is_given;       /* by the user; else it is a descendant of such a process */
    enum { LACKS_NOTHING, LACKS_ROOM, LACKS_MEMORY } lack; /* why its image can have no worker */
    bool has_exec;       /* its image has begun with an exec that was seen */
    unsigned threads;    /* that live; of a process that is not given */
    uint32_t images;     /* that had workers before this one */
    uint64_t began;      /* CLOCK_MONOTONIC of this image, or of the measurement */
    uint64_t forked;     /* CLOCK_MONOTONIC of its begin; 0: it was there before */
    int watched;         /* a pidfd; negative: its end is not watched */
    uint64_t ended;      /* CLOCK_MONOTONIC, after its last record; 0: that it has ended is not known */
    char name[PROCESS_NAME]; /* since its last exec; "": unknown */
    struct traced_map *maps;
    unsigned map_count;
    struct record_queue *queue; /* NULL: its image has no worker */
    enum queue_wish wish;       /* that was granted, if it could be */
    bool is_caught;             /* its samples are caught (frame-catcher.h) */
    uint64_t caught_until;      /* time of the last record that a proof needs */
    pid_t worker;
};

/* The process with this pid; NULL: it is not known. */
struct traced *traced_find(int pid);

/* Makes it known. NULL: there are too many, or no memory. */
#define MAX_TRACED 65536
struct traced *traced_add(int pid, uint64_t began);

/* Forgets it, and its mappings. */
void traced_remove(struct traced *process);

/* It is one of those that the user has given. */
void traced_give(struct traced *process);

/* Begins to watch for the end of the process, once. (perf's records of threads that end are not enough: it is unknown
 * how many threads a process has that was there before.) If it has ended, that is noted. Returns 0, or a negative
 * errno. */
int traced_watch(struct traced *process);

/* Notes the ends of watched processes since the last call. Their last records may still come. */
void traced_note_ends(void);

/* The descriptor that poll can wait for; -1: there are none. Sleeps for a time, or until a process ends. */
int traced_ends_fd(void);
void traced_wait_for_end(int milliseconds);

/* The numbers of given processes, and of those that have ended, until they are removed. */
unsigned traced_running(void);
unsigned traced_ending(void);

/* Removes the mappings that lay where this one does, unless they have several owners. */
void traced_maps_replace(struct traced *process, const struct mapping *mapping);

/* The same, and copies the record. */
void traced_map_add(struct traced *process, const struct mapping *mapping, const struct perf_event_header *record);

/* Gives a process without mappings those of its parent. */
void traced_maps_share(struct traced *process, const struct traced *parent);

void traced_maps_clear(struct traced *process);

/* Calls `visit` for all; it may remove the process. */
void traced_visit(void (*visit)(struct traced *process));

#endif
