/* What a time view shows: the rows of threads over a window of time, with the cells of those that were looked at. */
#ifndef VIEWER_TIME_CHART_H
#define VIEWER_TIME_CHART_H

#include "viewer-tui/timeline/place-scopes.h"
#include "viewer-tui/timeline/thread-rows.h"
#include "viewer-tui/timeline/time-cells.h"

struct time_chart {
    const struct timeline *timeline;
    const struct place_scopes *scopes;
    struct thread_rows rows;
    struct time_window window;
    uint32_t depth;                /* 0: states; else procedures at that depth */
    uint32_t *procedures;          /* by place; NULL at depth 0 */
    bool *marks;                   /* by place; NULL: none are marked */
    VEC(struct time_cell *) cells; /* by row; NULL: not found yet */
    struct time_cell *strip;       /* of all threads; NULL: not found yet */
};

/* Shows the whole run in `columns`. Timeline and scopes must outlive it; takes ownership of the threads. */
struct time_chart time_chart_of(const struct timeline *timeline, const struct place_scopes *scopes,
                                struct threads threads, unsigned columns);
void time_chart_free(struct time_chart *chart);

/* The whole run. */
struct time_window time_chart_whole(const struct time_chart *chart, unsigned columns);

/* Shows another piece of time, moved and made as long as needed to lie within the run and not to be shorter than a
 * nanosecond for each column. */
void time_chart_show(struct time_chart *chart, uint64_t begin, uint64_t end, unsigned columns);

/* Makes the window shorter or longer by a factor; what is at `time` stays where it is. */
void time_chart_zoom(struct time_chart *chart, double factor, uint64_t time);

/* Moves the window by a number of columns; negative: to earlier times. */
void time_chart_pan(struct time_chart *chart, long columns);

void time_chart_set_depth(struct time_chart *chart, uint32_t depth);

/* Takes ownership of the marks. */
void time_chart_mark(struct time_chart *chart, bool *marks);

void time_chart_group(struct time_chart *chart, enum thread_grouping grouping);
void time_chart_toggle(struct time_chart *chart, size_t row);

/* The cells of a row; those of all threads, without procedures, which are cheaper after those of all groups. Valid
 * until the chart is changed. */
const struct time_cell *time_chart_cells(struct time_chart *chart, size_t row);
const struct time_cell *time_chart_strip(struct time_chart *chart);

/* A piece of a thread's time. */
struct time_stretch {
    size_t thread; /* as in rows.order */
    uint64_t begin, end;
};

/* The longest time that a thread was idle; in a run without idle workers: that a thread waited. `before`: only shorter
 * ones, and of equal length later ones in the order of threads and times; NULL: any. False if there is none. */
bool time_chart_longest_idle(const struct time_chart *chart, const struct time_stretch *before,
                             struct time_stretch *longest);

/* The number of a profile's thread, as in rows.order; rows.n: it has no records. */
size_t time_chart_thread(const struct time_chart *chart, uint32_t profile);

/* The row of a thread; if its group is closed, that of the group. */
size_t time_chart_row(const struct time_chart *chart, size_t thread);

#endif
