/* Printing what a database says, for readers and for programs.
 *
 * Everything goes to `out`; problems are noted (task.h) and what is intact is printed. */
#ifndef VIEWER_PRINT_H
#define VIEWER_PRINT_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/output/cell.h"
#include "viewer-tui/tree/walk.h"

#include <stdio.h>

enum format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_FOLDED, /* from here on of export-stacks.h: trees only */
    FORMAT_FLAMEGRAPH,
    FORMAT_SPEEDSCOPE, /* from here on of one database only */
    FORMAT_PPROF,
    FORMATS
};

/* The format of that name, or that files so called have, FORMATS when there is none. */
enum format format_named(const char *name);
enum format format_of_file(const char *name);

/* What the user wants. */
struct print_options {
    enum format format;
    enum projection projection;
    const char *of;     /* of threads: the procedure that this expression matches; NULL: all */
    const char *sort;   /* as on the command line; NULL: the view's own */
    uint32_t depth;     /* below the whole program; 0: the view's own limit */
    double min_percent; /* below 0: the format's own limit */
    size_t width;       /* columns of running text; 0: the usual ones */
    const struct filters *filters; /* of trees; NULL: none */
};

/* Number of levels of callers that bottom-up prints unless told otherwise: there are as many
 * call chains as contexts, and who reads prints of all of them? */
#define BOTTOM_UP_DEPTH 10

/* Below this share in percent scopes are left out of text unless told otherwise. */
#define TEXT_MIN_PERCENT 0.5

/* The same for flame graphs: browsers are slow where there are very many frames. */
#define FLAMEGRAPH_MIN_PERCENT 0.02

/* What the printers of trees get: a view as it is shown. */
struct tree {
    const struct session *session;
    struct view *view;
    enum projection projection;
    struct filtered_tree *filtered; /* what filters leave of the view */
    uint32_t root;       /* only this row and what is below */
    struct limits limits;
    const open_rows *open;         /* text prints nothing below closed rows; NULL: all are open */
    const struct columns *columns; /* where the format has columns; NULL: those that it has */
    struct cell_style cells;       /* of text */
    FILE *out;
};

struct threads;

/* What the printers of threads get. */
struct thread_table {
    const struct session *session;
    const struct database *db;
    const struct threads *threads;
    enum projection projection;
    FILE *out;
};

/* One of the three trees; threads; the summary. The result is the exit status: 0, 1 when the
 * database has a problem (which the caller reports), 2 when the user asks for what there is not,
 * which has been reported. */
int print_view(struct session *session, enum view_id id, const struct print_options *options,
               FILE *out);
int print_threads(struct session *session, const struct print_options *options, FILE *out);
/* What the procedure options->of costs in each thread. */
int print_threads_of(struct session *session, const struct print_options *options, FILE *out);
int print_summary(struct session *session, const struct print_options *options, FILE *out);

/* Understands what the user wants to sort by (NULL: leaves *sorting alone); false, with the
 * complaint made, when that cannot be. */
bool print_sorting(const struct session *session, const struct metrics *metrics, const char *wanted,
                   struct sorting *sorting);

/* Whether a format can show what the view is sorted by: what stacks are of must add up along them,
 * of a comparison in either run. */
bool print_can(enum format format, const struct view *view);

/* Prints a tree; the result is as above. */
int print_tree(const struct tree *tree, enum format format);

/* What is left out of a view that is printed so; by the format's own limits unless there are
 * others: print_options. */
struct limits print_limits(const struct view *view, enum format format, double min_percent,
                           uint32_t depth);

/* tree-parts.c: adds the filters in force, "[&solve] [without main]"; whether a metric has a
 * column.
 */
void tree_add_filters(const struct tree *tree, bool ascii, struct text *out);
bool tree_shows_metric(const struct tree *tree, size_t metric);

void print_tree_text(const struct tree *tree);
void print_tree_csv(const struct tree *tree);
void print_tree_json(const struct tree *tree);
void print_tree_folded(const struct tree *tree);
void print_tree_flamegraph(const struct tree *tree);
void print_tree_speedscope(const struct tree *tree);
void print_tree_pprof(const struct tree *tree);
void print_threads_text(const struct thread_table *table);
void print_threads_csv(const struct thread_table *table);
void print_threads_json(const struct thread_table *table);

#endif
