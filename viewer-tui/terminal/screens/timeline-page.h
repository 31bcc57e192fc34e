/* The time view while it is shown: timeline-screen.c draws it, timeline-commands.c has its keys. */
#ifndef VIEWER_TIMELINE_PAGE_H
#define VIEWER_TIMELINE_PAGE_H

#include "viewer-tui/output/timeline-lines.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/terminal/screens/tui.h"

struct time_page {
    struct open_timeline open;
    struct timeline_lines lines;
    struct scroller scroller; /* over the rows of the chart */
    unsigned column;          /* the cursor's */
    struct area rows;         /* the cells, without labels */
    size_t n_rows;            /* on the screen */
    int legend_lines;
    struct time_stretch idle; /* that `i` went to last; end 0: none */
    const struct command *last; /* the command before, of this page */
    uint64_t range_begin;     /* NO_TIME: no range is being selected */
    struct text marked;       /* what is marked, for the title */
    bool is_closed;
};

#define NO_TIME UINT64_MAX

/* The middle of the cursor's column. */
uint64_t time_page_time(const struct time_page *page);

static inline const struct thread_row *time_page_row(const struct time_page *page)
{
    return &page->open.chart.rows.rows.at[page->scroller.selected];
}

/* Draws tui->time_page; `context` is the tui. Returns the line for questions and messages. */
int time_page_draw(void *context);

/* Makes room for the labels of the rows that the chart has now. */
void time_page_fit_labels(struct time_page *page);

/* Marks the time of the row that is selected in the tree. */
void time_page_mark_row(struct tui *tui);

#endif
