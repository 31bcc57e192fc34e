/* What --print prints: one table, from which the command line takes its words and checks, and the commands of the
 * terminal the reports that they show. doc/contributing.md says how to add a page. */
#ifndef VIEWER_PRINTED_PAGES_H
#define VIEWER_PRINTED_PAGES_H

#include "viewer-tui/output/print.h"

/* Indices of printed_pages, in the order of --help; those of trees are the values of enum view_id. */
enum printed {
    PRINT_NOTHING = -1,
    PRINT_THREADS = VIEWS,
    PRINT_SUMMARY,
    PRINT_TIMELINE,
    PRINT_PHASES,
    PRINT_CRITICAL_PATH,
    PRINT_SCALING,
    PRINT_LOSSES,
    PRINTED
};

/* What a page does with options; those that do nothing for it are refused. */
enum page_option {
    TAKES_SORT = 1,     /* --sort */
    TAKES_METRICS = 2,  /* --metrics, --kinds, --derive */
    TAKES_CALLS = 4,    /* --physical */
    TAKES_FOLDS = 8,    /* --fold-inlined, --collapse-recursion, --kernel */
    TAKES_DEPTH = 16,   /* --depth */
    TAKES_PERCENT = 32, /* --min-percent */
    TAKES_ALL = 63      /* trees do */
};

struct printed_page {
    const char *word;    /* of --print, and the title on the screen */
    page_printer *print; /* NULL: the caller prints it, it is of no session (scaling) */
    enum view_id view;   /* the view that the printer gets; VIEWS: none */
    unsigned formats;    /* those that it has: a bit (1 << format) for each */
    unsigned takes;      /* enum page_option */
    bool is_tree;        /* filters, columns and bars are for it */
    bool is_of_set;      /* it is of a set of runs */
    const char *whole;   /* why it is not of some threads only, "the summary is about ..."; NULL: it can be */
    const char *alone;   /* why it is not of a comparison; NULL: it can be */
    page_printer *compare; /* the printer for comparisons, which gets the bottom-up view; NULL: the same */
};

extern const struct printed_page printed_pages[PRINTED];

/* Prints a page of a session; the exit status is that of a printer. The view is sorted as before when it returns. */
int print_page(enum printed page, struct session *session, const struct print_options *options, FILE *out);

#endif
