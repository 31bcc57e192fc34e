/* Printing views of a database, for people and for programs.
 *
 * Output goes to a file; damage to the database is noted (task.h), and what is intact is printed.
 */
#ifndef VIEWER_PRINT_H
#define VIEWER_PRINT_H

#include "viewer-tui/advice/what-if.h"
#include "viewer-tui/compare/session.h"
#include "viewer-tui/table/row-line.h"
#include "viewer-tui/table/writer.h"
#include "viewer-tui/tree/walk.h"

#include <stdio.h>

/* The format of a file called so, "a.csv"; FORMATS if there is none. */
enum format format_of_file(const char *name);

/* The user's options. */
struct print_options {
    enum format format;
    enum projection projection;
    const char *sort;   /* as on the command line; NULL: the view's own order */
    const char *columns; /* trees as text, CSV or JSON: only these (column-choice.h); NULL: the format's own */
    bool has_bars;       /* trees as text: bars in place of percentages */
    uint32_t depth;     /* levels below the whole program; 0: the view's own limit; of a time line states */
    double min_percent; /* below 0: the format's own limit */
    size_t width;       /* columns of the terminal; 0: it is none, text has the usual width */
    const struct filters *filters; /* trees only; NULL: none */
    const speed_change_list *changes; /* summary only: what if these are made; NULL: none */
};

/* Levels of callers in a printed bottom-up view by default: there are as many call chains as
 * contexts. */
#define BOTTOM_UP_DEPTH 10

/* Rows with a smaller share, in percent, are left out of text by default. */
#define TEXT_MIN_PERCENT 0.5

/* The same for flame graphs: browsers are slow with very many frames. */
#define FLAMEGRAPH_MIN_PERCENT 0.02

/* The limit in percent of what is printed: the user's (min_percent of 0 or more), or the format's own. */
double print_least_percent(enum format format, double min_percent);

/* A tree to print: a view as it is shown. */
struct tree {
    struct session *session;
    struct view *view;
    enum projection projection;
    struct filtered_tree *filtered; /* the view's rows that the filters leave */
    uint32_t root;                  /* only this row and the rows below it */
    struct limits limits;
    const open_rows *open;         /* text omits what is below closed rows; NULL: all are open */
    const struct columns *columns; /* NULL: the format's own */
    struct cell_style cells;       /* of text */
    size_t width;                  /* as in print_options */
    FILE *out;
};

/* Prints a page (printed-pages.h), and returns the exit status: 0; 1 if the database cannot be read; 2 if the options
 * do not fit it, which has been reported. It may sort the view. */
typedef int page_printer(struct session *session, struct view *view, const struct print_options *options, FILE *out);
page_printer print_view, print_threads, print_summary, print_timeline, print_phases, print_critical_path;

/* The summary of a comparison: both runs side by side, what changed, and the procedures whose own
 * costs differ most. Its view is bottom-up. */
page_printer print_comparison;

/* Understands an option --sort (NULL leaves *sorting alone); false, with the error reported, if
 * there is no such metric or it was not measured. */
bool print_sorting(const struct session *session, const struct metrics *metrics, const char *wanted,
                   struct sorting *sorting);

/* Whether a format can show the metric that the view is sorted by: the costs of stacks must add up.
 */
bool print_can(enum format format, const struct view *view);

/* Prints a tree. */
void print_tree(const struct tree *tree, enum format format);

/* The limits that print_options ask for, or else the format's own. */
struct limits print_limits(const struct view *view, enum format format, double min_percent,
                           uint32_t depth);

/* Adds the active filters, "[&solve] [without main]". */
void tree_add_filters(const struct tree *tree, bool ascii, struct text *out);

void print_tree_text(const struct tree *tree);
void print_tree_csv(const struct tree *tree);
void print_tree_json(const struct tree *tree);
void print_tree_folded(const struct tree *tree);
void print_tree_flamegraph(const struct tree *tree);
void print_tree_svg(const struct tree *tree);
void print_tree_speedscope(const struct tree *tree);
void print_tree_pprof(const struct tree *tree);

#endif
