/* The calling context tree in compact arrays, in preorder: the nodes below node n are n + 1 .. end[n] - 1, so one node
 * lies below another if its number lies in that interval, and a loop over the numbers visits every node after its
 * parent. Node 0 is the whole program; its children are the entry points (KIND_ROOT, place is the index of the entry).
 * 26 bytes per node.
 *
 * The contexts of meta.db are nodes in the file's order. fold.h makes other trees of them. */
#ifndef VIEWER_NODES_H
#define VIEWER_NODES_H

#include "viewer-tui/base/scope.h"

#include <stdbool.h>
#include <stdint.h>

struct database;

struct nodes {
    uint64_t number; /* no other tree has it */
    uint32_t n;
    uint8_t *kind;    /* enum scope_kind */
    uint32_t *parent; /* 0 for the entry points and for 0 itself */
    uint32_t *end;
    uint32_t *procedure; /* the innermost procedure or inlined procedure that contains it, or itself; its entry point
                            or 0 if there is none */
    uint32_t *place;     /* id of the procedure; for a loop or statement the index of its file, or of the point in its
                            place (database_point_file); NOTHING for an instruction */
    uint32_t *line;      /* of a loop or statement; 0 unknown */
    uint32_t *position;  /* of its values (profile-values.h); NOTHING if there are none */
    bool *no_call_site;  /* it was called from an unknown site */
};

struct node {
    enum scope_kind kind;
    uint32_t parent, place, line, position;
    bool no_call_site;
};

/* Reads the tree of meta.db; skips damaged parts, with the problem noted. NULL if the user stopped it. The caller frees
 * with nodes_free. */
struct nodes *nodes_read(struct database *db);
void nodes_free(struct nodes *nodes); /* NULL allowed */

/* Room for `most` nodes. */
struct nodes *nodes_new(uint64_t most);

/* Adds a node after all others, with nothing below it. */
uint32_t nodes_add(struct nodes *nodes, const struct node *node);

/* Sets `end` of all nodes, after they were added. */
void nodes_find_ends(struct nodes *nodes);

/* A copy of the nodes that are kept: the marked ones, all above them, and 0. Marks those, too. */
struct nodes *nodes_select(const struct nodes *nodes, bool *is_marked);

static inline bool is_procedure_kind(enum scope_kind kind)
{
    return kind == KIND_PROCEDURE || kind == KIND_INLINED;
}

/* Whether a node is a part of the procedure around it, as opposed to being called or inlined there. */
static inline bool is_lexical_kind(enum scope_kind kind)
{
    return kind == KIND_LOOP || kind == KIND_STATEMENT || kind == KIND_INSTRUCTION;
}

/* The procedure that called `node`, a procedure, or into which it was inlined; its entry point if there is none. */
static inline uint32_t nodes_caller(const struct nodes *nodes, uint32_t node)
{
    return nodes->procedure[nodes->parent[node]];
}

/* The statement that called `node` or into which it was inlined: the innermost one that contains it in the same
 * procedure. 0 if there is none. */
static inline uint32_t nodes_call_site(const struct nodes *nodes, uint32_t node)
{
    uint32_t around = nodes->parent[node];
    while (nodes->kind[around] == KIND_INSTRUCTION)
        around = nodes->parent[around];
    return nodes->kind[around] == KIND_STATEMENT ? around : 0;
}

#endif
