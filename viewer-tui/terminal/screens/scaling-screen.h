/* The page of a set of runs: what --print scaling prints, with a number of workers selected. */
#ifndef VIEWER_SCALING_SCREEN_H
#define VIEWER_SCALING_SCREEN_H

#include "viewer-tui/scaling/scaling-table.h"

#include "lib/run-set.h"

/* What the page shows. */
struct shown_set {
    const char *folder;
    const struct run_set *set;
    const struct scaling_table *table; /* with rows */
    bool has_mouse;
    /* Shows the database of a run (NULL: the losses of all runs), with the terminal as before the page. Returns the
     * exit status; errors are reported on stderr. */
    int (*open)(const struct shown_set *shown, const struct set_run *run);
    void *context; /* of it */
};

/* Shows the page until the user quits. Returns the exit status. */
int scaling_screen_run(const struct shown_set *shown);

#endif
