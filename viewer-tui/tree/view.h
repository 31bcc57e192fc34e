/* A view: a tree of rows whose children are made on demand.
 *
 * Rows are numbers into one growing array; row 0 is the whole program. The children of a row are
 * made once, by view_expand, and can be visited in the order of the view's sorting. The rows that
 * were made last can be given up again (view_release), so that a walk over a huge tree needs memory
 * for one path only. Row numbers stay valid while the rows exist, pointers until the next
 * view_expand.
 *
 * topdown.c, bottomup.c and flat.c implement the views of one database: each of their rows is a set of nodes, and its
 * costs are sums over these. merged.c compares several of them. Names and places of a row are indices into the database
 * that it comes from: to look them up, call view_origin first.
 *
 * Costs are added up by the rule for recursion in Adhianto, Mellor-Crummey, Tallent, "Effectively presenting call path
 * profiles of application performance" (PSTI 2010):
 * - Exclusive costs of contexts never overlap, so they are summed over all nodes of the row.
 * - Inclusive costs of a node include those of nodes below it, so only *exposed* nodes count: those without another
 *   node of the row above them. In preorder, a node is exposed unless it lies before the end of the last exposed one.
 * - A node that is not exposed in a row may be exposed in a child of the row. Therefore the children's inclusive costs
 *   may add up to more than the row's. */
#ifndef VIEWER_VIEW_H
#define VIEWER_VIEW_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/nodes.h"
#include "viewer-tui/threads/thread-values.h"

struct row {
    uint32_t parent;                  /* 0 for 0 */
    uint32_t depth;                   /* levels below row 0 */
    uint32_t first_child, n_children; /* in the order in which they were made */
    uint32_t sorted_by;               /* sorting_number of the order of its children */
    uint8_t kind;                     /* enum scope_kind */
    bool is_expanded;                 /* its children have been made */
    bool is_leaf;                     /* it cannot have children */
    bool has_several_call_sites;      /* rows with other call sites were joined to it (view_join) */
    bool no_call_site;                /* it, or a part of it, was called from an unknown site */
    uint32_t place; /* id of the procedure; index of the module, file, program or entry point; for
                       a loop or statement of its file; NOTHING: unknown, or the whole program */
    uint32_t line;  /* of a loop or statement; 0 unknown */
    uint32_t call_file, call_line; /* where it was called or inlined; in the bottom-up view where
                                      this caller calls; NOTHING and 0 if there is no such line */
    union {
        struct {
            uint32_t first_node, n_nodes; /* its nodes: view->nodes from first_node on, in preorder */
        };
        uint32_t scope; /* in the flat view: its scope there */
    };
};

/* One of the nodes of a row. */
struct row_node {
    uint32_t node;  /* its costs are a part of the row's */
    uint32_t frame; /* of a caller in the bottom-up view: the node of the caller around `node`; else `node` */
};

struct view;

/* A node of which the costs of a row are a sum. */
struct node_ref {
    uint32_t node;
    uint32_t part; /* enum cost_part: which cost of the node is added */
};

struct node_refs {
    VEC(struct node_ref) list;
};

/* A kind of view. */
struct view_class {
    const char *name;                        /* "top-down" */
    const char *title;                       /* a few words of explanation */
    enum cost_part sorted_by;                /* by default */
    bool shows_callers;                      /* rows below the first level are callers */
    bool has_all_code;                       /* the exclusive cost of row 0 is all of the program; else what no
                                                entry point has */
    enum outcome (*expand)(struct view *view, uint32_t row); /* adds the children with view_add */
    /* NULL, as what follows, if rows have a list of nodes, of which their costs are sums (view_add_node). */
    double (*cost)(const struct view *view, uint32_t row, size_t metric, enum cost_part part); /* a stored metric */
    enum outcome (*nodes)(const struct view *view, uint32_t row, enum cost_part part,
                          struct node_refs *refs); /* as view_nodes; not called for several databases, nor for row 0 */
    enum outcome (*open)(struct view *view); /* sets up the state */
    void (*release)(struct view *view, uint32_t first); /* rows from `first` on are given up; may be NULL */
    void (*close)(struct view *view);
    const struct view *(*origin)(const struct view *view, uint32_t *row); /* may be NULL */
};

extern const struct view_class topdown_class, bottomup_class, flat_class;

/* The row of the flat view for the scope of a node; and for a procedure, or else its most expensive inlined copy by
 * the view's sorting. NOTHING if there is none. */
uint32_t flat_row_of_node(struct view *flat, uint32_t node);
uint32_t flat_row_of_procedure(struct view *flat, uint32_t id);

struct view {
    const struct view_class *class;
    struct database *db; /* NULL: two databases, see view_origin */
    const struct metrics *metrics;
    int side;              /* number of the run whose view it is, of those that are merged */
    VEC(struct row) rows;
    VEC(uint32_t) order; /* parallel to rows: a row's children in order, from first_child on */
    VEC(struct row_node) nodes;
    struct cost *totals; /* of the whole program, by stored metric */
    struct row_sums *sums; /* of nodes, as far as they were added up; unused with class->cost */
    struct sorting sorting;
    uint32_t sorting_number;
    void *state;
};

/* Opens a view with the database's current metrics and tree, which must outlive it. NULL if the user stopped it. */
struct view *view_open(const struct view_class *class, struct database *db);
void view_close(struct view *view); /* NULL allowed */

/* Sets the order in which view_child returns rows. */
void view_sort(struct view *view, struct sorting sorting);

/* The i-th child of an expanded row, i < n_children, in the order of the view's sorting. Rows that
 * are equal by it are ordered by their other cost, then by name and line (labels.h), last by when
 * they were made: the same input always gives the same order. Undefined costs come last. */
uint32_t view_child(struct view *view, uint32_t row, uint32_t i);

/* Puts any rows into that order. */
void view_sort_rows(struct view *view, uint32_t *rows, size_t n);

/* Makes the children of a row unless they exist. If the user stops that, the row stays as it was.
 */
enum outcome view_expand(struct view *view, uint32_t row);

static inline const struct row *view_row(const struct view *view, uint32_t row)
{
    return &view->rows.at[row];
}

/* Whether a row is a procedure or an inlined procedure. */
static inline bool row_is_procedure(const struct row *row)
{
    return row->kind == KIND_PROCEDURE || row->kind == KIND_INLINED;
}

/* The nearest procedure, inlined or not, from a row upwards; 0 if there is none. */
static inline uint32_t view_procedure_at(const struct view *view, uint32_t row)
{
    while (row && !row_is_procedure(view_row(view, row)))
        row = view_row(view, row)->parent;
    return row;
}

/* The view of one database that a row comes from; *row becomes its number there. Of merged runs this is the view of
 * the run whose scope the row shows, else the view itself. */
static inline const struct view *view_origin(const struct view *view, uint32_t *row)
{
    return view->class->origin ? view->class->origin(view, row) : view;
}

/* One cost of a row. NAN if it is undefined, which derived metrics and ratios may be. */
double view_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part);

/* The same for costs that need not belong to a row: those that `cost` returns for `context`. */
double view_value(const struct view *view, formula_costs *cost, const void *context, size_t metric,
                  enum cost_part part);

/* The same of a node of the tree. */
double view_node_value(const struct view *view, uint32_t node, size_t metric, enum cost_part part);

/* Whether rows of the view can be joined: those that have a list of nodes. */
static inline bool view_can_join(const struct view *view)
{
    return !view->class->cost;
}

/* Joins children of a row, for a comparison: child i is joined to the first child with the same
 * groups[i], unless that is NOTHING. The children must be the rows that were made last, and must
 * not be expanded. */
void view_join(struct view *view, uint32_t row, const uint32_t *groups);

/* Removes a child of a row; the child's children become the row's. These must be the rows that were
 * made last, the row's children those before, and only this child may be expanded. */
void view_dissolve(struct view *view, uint32_t row, uint32_t child);

/* The whole program's inclusive cost of any metric; NAN as above. */
double view_total(const struct view *view, size_t metric);

/* What a share is a part of: the whole program's inclusive cost of the metric, or the reference of
 * its percentages, which users see (view_whole). */
enum share_of { SHARE_OF_TOTAL, SHARE_OF_WHOLE };

/* A row's share, 0..1; 0 if it has none. In a comparison the larger one of the two sides' shares.
 */
double view_share(const struct view *view, uint32_t row, struct sorting by, enum share_of of);

/* The cost by which small rows are hidden: the inclusive part of the sorting's metric, so that the
 * visible rows are connected. In the bottom-up view the sorting's part, since the rows below divide
 * either. If the metric has no shares, the first one that has. */
struct sorting view_judged_by(const struct view *view);

/* The whole program's inclusive cost, which determines the unit of all values of the metric; in a
 * comparison the larger one of the two sides. */
double view_magnitude(const struct view *view, size_t metric);

/* The reference of a metric's percentages: the whole program's inclusive cost of it, or of the
 * metric that it is a part of; 0 if it has no percentages. */
double view_whole(const struct view *view, size_t metric);

/* Adds the nodes of which one part of a row's costs are sums. FAILED as below. */
enum outcome view_nodes(const struct view *view, uint32_t row, enum cost_part part, struct node_refs *refs);

/* Adds the values of contexts in the file of which a row's costs are the sums. FAILED if the view, being of two
 * databases, has none. */
enum outcome view_value_refs(struct view *view, uint32_t row, enum cost_part part, struct value_refs *refs);

/* The same for one node of a view of one database. */
void view_node_value_refs(const struct view *view, uint32_t node, enum cost_part part, struct value_refs *refs);

/* Gives up the children of a row and all rows that were made after them. */
void view_release(struct view *view, uint32_t row);

/* For the implementations: a view with these metrics and row 0, all costs zero, and class->open not
 * called. `db` NULL: of two databases. */
struct view *view_new(const struct view_class *class, struct database *db,
                      const struct metrics *metrics);

/* For the implementations: appends a child of the row being expanded. Sets its parent and depth. Returns its number. */
uint32_t view_add(struct view *view, uint32_t parent, struct row row);

/* For the implementations: appends a node to the row that was added last. */
static inline void view_add_node(struct view *view, uint32_t node)
{
    struct row *row = &view->rows.at[view->rows.n - 1];
    if (row->n_nodes++ == 0)
        row->first_node = (uint32_t)view->nodes.n;
    vec_push(&view->nodes, ((struct row_node){node, node}));
}

/* For the implementations: adds the costs of a node to those of a row, the last one that has costs or one after it, so
 * that they need not be added up again. `is_exposed`: the inclusive ones, too. */
void view_add_costs(struct view *view, uint32_t row, const struct cost *costs, bool is_exposed);

/* For the implementations: sets where the code of a node is called. */
static inline void row_set_call_site(struct row *row, const struct nodes *nodes, uint32_t node)
{
    uint32_t call_site = nodes_call_site(nodes, node);
    row->call_file = call_site ? nodes->place[call_site] : NOTHING;
    row->call_line = call_site ? nodes->line[call_site] : 0;
    row->no_call_site = nodes->no_call_site[node];
}

/* For the implementations: the number of a source line in `lines`, 0, 1, ... in order of appearance, to distinguish
 * call sites. */
static inline uint32_t line_number_of(struct idmap *lines, uint32_t file, uint32_t line)
{
    return idmap_number(lines, file, line, (uint32_t)lines->count);
}

#endif
