/* A path through a program's dag: its length, and how much of it is in which calling context.
 *
 * A path belongs to an activation, and the part in that activation's own context is a plain number,
 * because most paths have no other part. The others are in a table, sorted by context, in the
 * caller's memory. A path is moved by assignment. Zeroed memory is the empty path. */
#ifndef HPCRUN_SPAN_CRITICAL_PATH_H
#define HPCRUN_SPAN_CRITICAL_PATH_H

#include "hpcrun/span/worker-memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Paths of both kinds: without and with burdens. */
enum { PLAIN, BURDENED, KINDS };

struct path_table {
    uint32_t count, size; /* size: of its block, worker-memory.h */
    struct path_entry {
        uint64_t context : 16, strands : 48; /* a day has 2^37 strands of 0.6 us */
        uint64_t time;
    } at[];
};

struct critical_path {
    uint64_t length;
    uint64_t own, strands;     /* the part in the owner's context; its strands that were measured */
    struct path_table *others; /* the rest; NULL: none */
};

static inline void path_add_own(struct critical_path *path, uint64_t time, uint64_t strands)
{
    path->length += time;
    path->own += time;
    path->strands += strands;
}

/* The slow parts of the functions below: for paths with tables. */
bool path_append_others(struct critical_path *path, struct worker_memory *memory,
                        struct path_table *others);
bool path_change_context(struct critical_path *path, struct worker_memory *memory, uint32_t from,
                         uint32_t to);
bool path_copy_others(struct critical_path *path, struct worker_memory *memory);
void path_free_others(struct critical_path *path, struct worker_memory *memory);

/* Moves `tail`, of the same owner, to the path's end; it is empty then. False without memory: the
 * path's parts are then incomplete. */
static inline bool path_append(struct critical_path *path, struct worker_memory *memory,
                               struct critical_path *tail)
{
    struct path_table *others = tail->others;
    path->length += tail->length;
    path->own += tail->own;
    path->strands += tail->strands;
    *tail = (struct critical_path){0};
    return !others || path_append_others(path, memory, others);
}

/* Gives the path to an owner in another context. False without memory. */
static inline bool path_change_owner(struct critical_path *path, struct worker_memory *memory,
                                     uint32_t from, uint32_t to)
{
    return from == to || path_change_context(path, memory, from, to);
}

/* Makes `path`, which must be empty, a copy. False without memory: its parts are then incomplete. */
static inline bool path_copy(struct critical_path *path, struct worker_memory *memory,
                             const struct critical_path *from)
{
    *path = *from;
    return !path->others || path_copy_others(path, memory);
}

/* Empties the path. */
static inline void path_clear(struct critical_path *path, struct worker_memory *memory)
{
    if (path->others)
        path_free_others(path, memory);
    *path = (struct critical_path){0};
}

#endif
