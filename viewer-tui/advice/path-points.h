/* Instants of threads, a random one in each of equal parts of their time, and the procedures on the call paths there:
 * their shares of inclusive time, and kinds of call paths. Points are few, so that a run with millions of contexts
 * costs no more; a share of N points has a 95 % interval of ±1/√N at most. */
#ifndef VIEWER_PATH_POINTS_H
#define VIEWER_PATH_POINTS_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/record-sums.h"

/* Kinds of call paths at most. */
#define MOST_PATH_KINDS 8

struct path_point {
    uint32_t node; /* of the logical projection */
    uint32_t n;    /* points there */
};

struct path_points {
    VEC(struct path_point) list; /* those at one node have one entry */
    uint32_t n;                  /* of all entries */
    double amount;               /* what they stand for together, in the fixed point of the event */
};

/* Points in the records of some states. `node_of` has the node of each place; 0: its records have no points. The
 * caller frees the list. */
struct path_points path_points_of(const struct record_sums *sums, const uint32_t *node_of,
                                  bool (*counts)(enum trace_state state));

/* Divides call paths into kinds, 0 .. MOST_PATH_KINDS - 1, and sets that of each place that has a node. All paths are
 * of one kind at first. Then, again and again, the kind is divided that a procedure divides most evenly: into paths
 * with it and those without. So kinds have about the same time, and differ by callers or by what these call, wherever
 * the program's time divides. */
void path_kinds_find(struct database *db, const struct path_points *points, const uint32_t *node_of, size_t n_places,
                     uint8_t *kinds);

/* The procedure that tells pieces of time apart, for each of n pieces: much of the piece is in it and what it calls,
 * and of the others together at most half of that share. Of several, it is the innermost one with about the largest
 * difference: of the user's own code that has a name, else of a package, else of the system. If there is none: the
 * user's own procedure with most of the piece. NOTHING: the piece has no points. */
void path_names_find(struct database *db, const struct path_points *points, size_t n, uint32_t *procedures);

#endif
