/* A view: a tree of rows whose children come into being when somebody asks for them.
 *
 * Rows are numbers into one growing array, row 0 is the whole program. The children of a row are
 * made once, by view_expand, and can be visited in the order of the view's sorting . Rows
 * that were made last can be given up again (view_release), so that a walk over a huge tree needs
 * memory for one path only. Numbers stay valid while the rows exist, pointers only until the next
 * view_expand.
 *
 * topdown.c, bottomup.c and flat.c are the views, merged.c compares two of a kind; printers and the
 * terminal know only this. Names and places of a row are indices into the database that it comes
 * from: who looks them up begins with view_origin. */
#ifndef VIEWER_VIEW_H
#define VIEWER_VIEW_H

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/context-table.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/value-refs.h"

struct row {
    uint32_t parent;                  /* 0 for 0 */
    uint32_t depth;                   /* levels below row 0 */
    uint32_t first_child, n_children; /* in the order in which they were made */
    uint32_t sorted_by;               /* which sorting its children are in */
    uint8_t kind;                     /* enum scope_kind */
    bool is_expanded;                 /* its children have been made */
    bool is_leaf;                     /* it can have none */
    bool has_several_call_sites;      /* several have been joined to it, with view_join */
    bool no_call_site; /* it, or a part of it, was called from a site that is not known */
    uint32_t place; /* id of the procedure; index of the module, file or entry point; of a loop or
                       statement its file; NOTHING if unknown, or the whole program */
    uint32_t line;  /* of a loop or statement, 0 unknown */
    uint32_t call_file, call_line; /* where it was called or inlined; in the bottom-up view where
                                      this caller calls; NOTHING, 0 where there is no such line */
    uint64_t data;                 /* for the view that made it */
};

struct view;
struct thread_statistics;

/* What a kind of view does. */
struct view_class {
    const char *name;         /* "top-down" */
    const char *title;        /* a few words of explanation */
    enum cost_part sorted_by; /* unless the user says otherwise */
    bool needs_cct;           /* a pass over everything */
    bool shows_callers; /* below the first level: what is there stands on the first level, too */
    enum outcome (*open)(struct view *view);                 /* sets up state and row 0's data */
    enum outcome (*expand)(struct view *view, uint32_t row); /* adds the children with view_add */
    void (*release)(struct view *view, uint32_t first); /* rows from `first` on go; may be NULL */
    /* Adds the value refs of a row's costs (view_value_refs); may be NULL. */
    enum outcome (*refs)(struct view *view, uint32_t row, enum cost_part part,
                         struct value_refs *refs);
    /* Adds what a row stands for, and its costs, to another one made with it; neither is expanded.
     * NULL where rows can't be joined. */
    void (*join)(struct view *view, uint32_t into, uint32_t row);
    void (*close)(struct view *view);                                     /* may be NULL */
    void (*start_walk)(struct view *view);                                /* may be NULL */
    const struct view *(*origin)(const struct view *view, uint32_t *row); /* may be NULL */
};

extern const struct view_class topdown_class, bottomup_class, flat_class;

struct view {
    const struct view_class *class;
    struct database *db; /* NULL: of several, see view_origin */
    const struct metrics *metrics;
    const struct cct *cct; /* NULL unless class->needs_cct */
    int side;              /* which of the two views of a comparison it is, 0 or 1 */
    size_t n_metrics;      /* that are stored */
    VEC(struct row) rows;
    VEC(uint32_t) order; /* parallel to rows: a row's children as sorted, from first_child on */
    struct cost *costs;  /* n_metrics for each row */
    size_t costs_size;
    struct thread_statistics *statistics; /* of its rows' values in threads */
    struct cost *totals;                  /* of the whole program, of stored metrics */
    struct cost *scratch;                 /* room for the costs of one context */
    struct sorting sorting;
    uint32_t sorting_number;
    uint64_t visited; /* contexts read since view_start_walk */
    void *state;
};

/* A view of the database's metrics as they are now; `cct` is that of db where the class needs it.
 * Both must outlive the view. NULL when the user stopped it. */
struct view *view_open(const struct view_class *class, struct database *db, const struct cct *cct);
void view_close(struct view *view); /* NULL allowed */

/* How its rows are sorted from now on, where somebody asks for them in order . */
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

/* Its costs of stored metrics. */
static inline const struct cost *view_costs(const struct view *view, uint32_t row)
{
    return view->costs + row * view->n_metrics;
}

/* The view of one database that a row comes from, *row becoming its number there: of a comparison
 * the view of the side whose scope the row shows, otherwise the view itself. */
static inline const struct view *view_origin(const struct view *view, uint32_t *row)
{
    return view->class->origin ? view->class->origin(view, row) : view;
}

/* One number of a row; NAN where it is not defined, of a derived metric or a ratio. */
double view_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part);

/* The same of costs that may belong to no row. */
double view_value(const struct view *view, const struct cost *costs, size_t metric,
                  enum cost_part part);

/* Finds out what is needed for a metric of many rows at once, before view_cost is asked for them:
 * that makes one pass over the values of threads of what would be one for each row. */
void view_gather(struct view *view, const uint32_t *rows, size_t n, size_t metric);

/* Makes one row of children of a row that belong together, for a comparison: of its child i the one
 * of the first child with the same groups[i]; those with NOTHING stay as they are. The children are
 * the rows that were made last, and none is expanded. */
void view_join(struct view *view, uint32_t row, const uint32_t *groups);

/* Takes a child of a row away, its children, which were made last, becoming the row's. The row's
 * children are what was made before them; none but this one is expanded. */
void view_dissolve(struct view *view, uint32_t row, uint32_t child);

/* What the whole program has, inclusive, of any metric; NAN as above. */
double view_total(const struct view *view, size_t metric);

/* What a share is of: the whole program's inclusive cost of the metric, or what the percentages of
 * the metric refer to (view_whole), which users see. */
enum share_of { SHARE_OF_TOTAL, SHARE_OF_WHOLE };

/* A row's share, 0..1; 0 where there is none. In a comparison the larger one of what the two sides
 * have of it. */
double view_share(const struct view *view, uint32_t row, struct sorting by, enum share_of of);

/* By what it is judged whether a row is large enough to be shown: inclusive costs, so that what is
 * shown hangs together; only in the bottom-up view do the rows below divide whatever the rows are
 * sorted by. Where that has no shares, the first metric that has. */
struct sorting view_judged_by(const struct view *view);

/* The whole program's inclusive cost, for the scale that all values of the metric are shown in; in
 * a comparison the larger one of the sides'. */
double view_magnitude(const struct view *view, size_t metric);

/* What percentages of a metric refer to: the whole program's inclusive cost of it, or of the
 * metric that it is a part of; 0 where they make no sense. */
double view_whole(const struct view *view, size_t metric);

/* Adds the values of contexts of which a row's costs are the sum. FAILED if the view, being of two
 * databases, has none. */
enum outcome view_value_refs(struct view *view, uint32_t row, enum cost_part part,
                             struct value_refs *refs);

/* Call before a walk that expands rows by itself: damaged databases may contain cycles, and the
 * limit to what a view reads counts from here. */
void view_start_walk(struct view *view);

/* Gives up the children of a row and every row that was made after them. */
void view_release(struct view *view, uint32_t row);

/* For what opens views: one of these metrics with its row 0, all costs zero and nothing opened.
 * `db` NULL: of several. */
struct view *view_new(const struct view_class *class, struct database *db,
                      const struct metrics *metrics);

/* For the views: adds the value refs of the whole program's inclusive costs. */
void view_program_value_refs(const struct view *view, struct value_refs *refs);

/* For the views: appends a child of the row being expanded, its costs zero; parent and depth are
 * filled in. Returns its number. */
uint32_t view_add(struct view *view, uint32_t parent, struct row row);
static inline struct cost *view_costs_of_new(struct view *view, uint32_t row)
{
    return view->costs + row * view->n_metrics;
}

/* For the views: dense numbers of source lines, to distinguish call sites. A zeroed one is empty;
 * the owner frees `ids` with idmap_free. */
struct line_numbers {
    struct idmap ids;
    uint32_t n;
};

/* The number of a line: 0, 1, ... in order of appearance. */
static inline uint32_t line_number_of(struct line_numbers *lines, uint32_t file, uint32_t line)
{
    uint32_t number = idmap_get(&lines->ids, file, line);
    if (number == IDMAP_NONE) {
        number = lines->n++;
        idmap_put(&lines->ids, file, line, number);
    }
    return number;
}

#endif
