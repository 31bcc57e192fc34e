/* The processes that write one database together. hpcprof is a team of one; hpcprof-mpi is a team
 * of the ranks of an MPI job. Both are the same program but for the file that they are linked with:
 * team-alone.c or team-mpi.c.
 *
 * How the ranks work together, so that the database has the bytes that hpcprof writes:
 *
 *  1. Every rank lists all measurement files. Rank r reads those with index r, r + n, r + 2 n, ...
 *     of the sorted list, and keeps their trees: most of the memory.
 *  2. The ranks exchange the rest of each file, and of its trees only what the steps before
 *     attribution look at (thread-digest.h). From there on each rank has all processes and threads
 *     in the same order, and computes the same tables of events, metrics, modules and functions:
 *     ids mean the same on all ranks, and nothing about them has to be reconciled.
 *  3. Each rank attributes the call paths of its own threads. The trees of contexts are merged in
 *     pairs: log2(n) steps, in each of which half of the ranks send their tree and are done. All
 *     get the merged tree from rank 0, and continue with the same tree: what depends on the whole
 *     tree (calls from unknown sites, ids) is computed by all.
 *  4. Amounts are integers, so sums over ranks don't depend on the order. Bits and sums are
 *     combined by MPI_Allreduce.
 *  5. profile.db and cct.db: each rank makes its blocks (of its threads; of every n-th range of
 *     contexts). The ranks exchange the sizes, so each computes all offsets, and writes its own
 *     blocks by MPI-IO. Rank 0 writes headers and indices, and all other files.
 *  6. When all have finished, rank 0 gives the database its name. Until then it is called
 *     DATABASE.unfinished-PID.
 *
 * A rank that fails prints why and aborts the job; rank 0 then removes the unfinished database,
 * unless it was killed itself.
 *
 * Steps that all ranks repeat print messages on rank 0 only. Functions marked "all" must be called by
 * all ranks in the same order. */
#ifndef HPCPROF_TEAM_H
#define HPCPROF_TEAM_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* "hpcprof" or "hpcprof-mpi". */
extern const char team_tool[];

/* Call before all other functions. All. */
void team_start(int *argc, char ***argv);

/* Waits for all; returns the largest of their exit statuses. A process that ends without it failed,
 * and ends the others, too. All. */
int team_end(int status);

unsigned team_rank(void); /* from 0 on */
unsigned team_size(void); /* 1: alone */

static inline bool team_is_first(void)
{
    return team_rank() == 0;
}

static inline bool team_is_alone(void)
{
    return team_size() == 1;
}

/* Whether this rank does the part of the work with this index. */
static inline bool team_does(size_t index)
{
    return index % team_size() == team_rank();
}

/* Returns when all ranks have called it. All. */
void team_wait(void);

/* ---- data ---- */

/* An array of bytes that grows (lib/alloc.h, VEC). */
struct team_bytes {
    uint8_t *at;
    size_t n, cap;
};

/* Appends bytes; `data` NULL: there are none. */
static inline void team_bytes_add(struct team_bytes *bytes, const void *data, size_t size)
{
    vec_reserve(bytes, size);
    if (size)
        memcpy(bytes->at + bytes->n, data, size);
    bytes->n += size;
}

/* Sets each byte to the bitwise or of those of all ranks. All. */
void team_or(void *bytes, size_t size);

/* Sets each number to the sum of those of all ranks. All. */
void team_sum(uint64_t *numbers, size_t count);
void team_sum_wide(unsigned __int128 *numbers, size_t count);

/* Whether a number is the same on all ranks. All. */
static inline bool team_agrees(uint64_t number)
{
    uint64_t ones = number, zeros = ~number;
    team_or(&ones, sizeof ones);
    team_or(&zeros, sizeof zeros);
    return ones == ~zeros;
}

/* Replaces the bytes by those of a rank. All. */
void team_broadcast(struct team_bytes *bytes, unsigned from);

/* What a rank has so far, as bytes, and what another one had. */
typedef void team_pack(void *data, struct team_bytes *bytes);
typedef void team_merge(void *data, const uint8_t *bytes, size_t size);

/* Merges the data of all ranks in pairs: rank 0 has all in the end. All. */
void team_reduce(void *data, team_pack *pack, team_merge *merge);

/* ---- files ---- */

struct team_file;

/* Opens a file that rank 0 has created. All. Never for a team of one. */
struct team_file *team_file_open(const char *path);

/* Writes at an offset; false if that fails. */
bool team_file_write(struct team_file *file, uint64_t offset, const void *data, size_t size);

/* All then can read what all have written. False if that fails. All. */
bool team_file_sync(struct team_file *file);

/* Closes the file; all then see what all have written. False if that fails. All. */
bool team_file_close(struct team_file *file);

#endif
