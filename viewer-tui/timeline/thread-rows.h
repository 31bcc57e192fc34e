/* The rows of a time line: threads that have records, or groups of them that can be opened. */
#ifndef VIEWER_THREAD_ROWS_H
#define VIEWER_THREAD_ROWS_H

#include "lib/hash-tables.h"
#include "viewer-tui/db/timeline.h"
#include "viewer-tui/threads/run-threads.h"

enum thread_grouping {
    BY_THREAD,  /* no groups */
    BY_PROCESS, /* of a parallel job: by rank */
    BY_ROUTINE, /* by start routine; threads without one by name */
    GROUPINGS
};

struct thread_group {
    size_t first, n; /* threads, as in `order` */
    bool is_open;
};

struct thread_row {
    size_t group;
    size_t first, n; /* threads, as in `order` */
    bool is_group;
};

struct thread_rows {
    struct threads threads;  /* owned */
    struct strtab routines;  /* their texts by thread_routine */
    uint32_t *routine;       /* of each thread, in `routines` */
    enum thread_grouping grouping;
    size_t n;                               /* threads with records */
    size_t *order;                          /* indices in `threads`, those of a group together */
    const struct timeline_thread **records; /* parallel to `order` */
    VEC(struct thread_group) groups;        /* in the order of their first thread; BY_THREAD: one for each thread */
    VEC(struct thread_row) rows;            /* groups, each followed by its threads if it is open */
};

/* Takes ownership of the threads. */
struct thread_rows thread_rows_of(const struct timeline *timeline, struct threads threads);
void thread_rows_free(struct thread_rows *rows);

/* Makes the groups, all closed. */
void thread_rows_group(struct thread_rows *rows, const struct timeline *timeline, enum thread_grouping grouping);

/* The grouping that has as few rows as there are lines, if there is one: threads, processes if there are several, else
 * routines. */
enum thread_grouping thread_rows_usual(const struct thread_rows *rows, size_t lines);

/* Opens or closes a group; nothing for a thread. */
void thread_rows_toggle(struct thread_rows *rows, size_t row);

/* The first thread of a row. */
static inline const struct thread *thread_of_row(const struct thread_rows *rows, const struct thread_row *row)
{
    return &rows->threads.list.at[rows->order[row->first]];
}

/* The text by which BY_ROUTINE groups: the start routine. If that has no name but "<libgomp.so.1+0x1cc40>":
 * "Thread-# (consume)" for the thread "Thread-1 (consume)", else "worker of libgomp.so.1". The caller frees. */
char *thread_routine(const struct timeline *timeline, const struct thread *thread);

#endif
