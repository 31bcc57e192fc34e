/* Where the records of a time line were: its places as nodes of the calling context tree of a projection, as the file
 * has it (not folded). */
#ifndef VIEWER_PLACE_SCOPES_H
#define VIEWER_PLACE_SCOPES_H

#include "viewer-tui/db/timeline.h"
#include "viewer-tui/tree/view.h"

struct pattern;

struct place_scopes {
    struct database *db;
    const struct nodes *nodes;
    uint64_t n;            /* places */
    uint32_t *node;        /* by place; 0: none */
    uint32_t *at_position; /* the node with the values at a position; 0: none */
    uint32_t *depth;       /* by node: procedures of its path */
    bool *has_begun;       /* by node: its path has a procedure that is not start code */
};

/* The tree must have been read (database_nodes); it must outlive the result, which the caller frees. */
struct place_scopes place_scopes_of(struct database *db, const struct timeline *timeline, bool is_physical);
void place_scopes_free(struct place_scopes *scopes);

/* The path of a node: its procedures, outermost first, without start code (start-names.h): from the first one on
 * that start code calls, or that has a source file and is not the system's (code-owner.h); all of them if there is
 * none. Replaces `path`; empty for node 0. The owner frees it with vec_free. */
typedef VEC(uint32_t) node_path;
void node_path_find(const struct place_scopes *scopes, uint32_t node, node_path *path);

/* By place, the id of the procedure at that depth, 1: the outermost, of its path; of a shorter path the innermost;
 * NOTHING without a path. The caller frees. */
uint32_t *place_procedures(const struct place_scopes *scopes, uint32_t depth);

/* The longest path of any place. */
uint32_t place_deepest(const struct place_scopes *scopes);

/* By place, whether it is in a scope or in what that calls: a row of a view. NULL if the view has no contexts. The
 * caller frees. */
bool *place_marks_of_row(const struct place_scopes *scopes, struct view *view, uint32_t row);

/* The same for procedures whose name matches; *n_procedures is their number. */
bool *place_marks_of_name(const struct place_scopes *scopes, const struct pattern *pattern, size_t *n_procedures);

/* Makes `owner` that of the nodes whose costs inclusive values have. `of_node`: by node. */
void place_owners_add(const struct place_scopes *scopes, const struct value_refs *values, uint32_t owner,
                      uint32_t *of_node);

/* The row of a top-down view in which a node of the file's tree is: the innermost one. Makes the rows on the way; 0 if
 * there is none. */
uint32_t place_row(const struct place_scopes *scopes, struct view *topdown, uint32_t node);

#endif
