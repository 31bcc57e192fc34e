/* The command line of hpcviewer. */
#ifndef VIEWER_OPTIONS_H
#define VIEWER_OPTIONS_H

#include "lib/path.h"
#include "viewer-tui/base/viewer-config.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/limits.h"
#include "viewer-tui/db/fold.h"
#include "viewer-tui/output/printed-pages.h"
#include "viewer-tui/threads/asked-range.h"

struct options {
    enum printed printed;
    struct print_options print;
    const char *output;            /* file to print to; NULL: standard output */
    const char *metrics;           /* names of the metrics to show; NULL: the usual ones */
    VEC(const char *) definitions; /* derived metrics, "NAME = FORMULA"; the caller frees */
    speed_change_list changes;           /* for the summary: what if they are made; the caller frees */
    const char *threads;           /* regular expression for threads; NULL: all */
    const char *program;           /* program whose threads count; NULL: all */
    struct asked_range range;      /* the piece of time that counts; all 0: the whole run */
    struct fold_choice folds;      /* contexts to fold (fold.h) */
    bool by_kind;                  /* show overhead and its kinds instead of the usual metrics */
    struct filters filters;        /* filters of the trees; the caller frees */
    struct path_rules rules;       /* where source files are; the caller frees */
    /* Databases or measurement directories, or pieces of time of them, "DB@1.2s:3.4s". First NULL: the only one in the
     * current directory; second NULL: nothing to compare. */
    const char *paths[SIDES];
    bool compares_lists; /* the paths are lists of repeated runs, "A,B,C" */
    limit_list limits;   /* on what may get worse; the caller frees */
    struct comparison_options comparison; /* the caller frees the names */
    /* The user's defaults; the first three count only for databases that have these metrics or that
     * projection. */
    const char *usual_metrics, *usual_sort;
    bool usually_physical;
    bool no_mouse;
    bool starts_closed;  /* the viewer, with the tree closed and without advice */
    const char *columns; /* of the terminal viewer (column-choice.h); NULL: those that fit */
    bool has_bars;
    struct config config; /* the configuration file that they were read from; the caller frees */
};

/* Reads the arguments and the user's configuration. Ends the process with status 2 if they are
 * wrong, and with status 0 after --help and --version. */
struct options options_read(int argc, char **argv);

/* Ends the program if what is printed is of the whole run. `range`: what restricts it to a piece of time. */
void options_check_range(const struct options *options, const char *range);

#endif
