/* The command line of hpcviewer. */
#ifndef VIEWER_OPTIONS_H
#define VIEWER_OPTIONS_H

#include "lib/path.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/base/viewer-config.h"
#include "viewer-tui/output/print.h"

/* What to print; the values below VIEWS are those of enum view_id. */
enum printed { PRINT_NOTHING = -1, PRINT_THREADS = VIEWS, PRINT_SUMMARY };

struct options {
    int printed; /* enum view_id or enum printed */
    struct print_options print;
    const char *output;            /* file to print to; NULL: standard output */
    const char *metrics;           /* NULL: the usual ones */
    VEC(const char *) definitions; /* of derived metrics; the caller frees */
    const char *threads;           /* only those that this expression matches; NULL: all */
    bool folds_inlined;            /* inlined code, into the procedures that contain it */
    const char *program;           /* only threads of the program of that name; NULL: of all */
    struct filters filters;        /* of trees; the caller frees */
    bool by_kind;                  /* overhead and its kinds in place of the usual ones */
    struct path_rules rules;       /* where sources are; the caller frees */
    const char *paths[SIDES];      /* of a database or measurement directory; the second NULL: it is
                                      not compared */
    const char *usual_metrics, *usual_sort; /* the user's defaults, for databases that have them */
    bool usually_physical;
    bool no_mouse;
    const char *columns; /* of the terminal, column-text.h; NULL: those that fit */
    enum cell_units units;
    bool has_bars;
    struct config config;                 /* which they are in; the caller frees */
    struct comparison_options comparison; /* the names are the caller's */
};

/* Understands the arguments. What cannot be understood ends the process with status 2, --help and
 * --version end it with status 0. */
struct options options_read(int argc, char **argv);

#endif
