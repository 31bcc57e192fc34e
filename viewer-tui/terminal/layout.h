/* Where the parts of the main screen are.
 *
 *     run                        what ran, and how long
 *     title                      the views
 *     advice                     its first line
 *     heads                      2 lines
 *     zoom                       if zoomed
 *     tree | source              source below the tree, unless the screen is wide
 *     filters                    if there are any
 *     status
 *     help
 *
 * On a low screen parts are left out; the tree is the last one to go. */
#ifndef VIEWER_LAYOUT_H
#define VIEWER_LAYOUT_H

#include "viewer-tui/terminal/screen.h"

/* What there is to show. */
struct layout_content {
    size_t n_rows;         /* of the tree */
    size_t n_source_lines; /* of the source file, or of the explanation why there is none */
    bool has_advice, has_zoom, has_filters;
    bool has_source; /* the source pane is shown */
    bool is_source;  /* it shows source, no explanation */
    bool asks;       /* the status line has a question: it is always shown */
};

#define NO_LINE (-1)

struct layout {
    int run, title, advice, zoom, filters, status, help; /* line, or NO_LINE */
    struct area heads, tree, source;                /* height 0: not shown */
};

struct layout layout_make(int width, int height, const struct layout_content *content);

/* Distance of the source pane from its initial position. */
struct source_scroll {
    long lines, columns;
    bool at_call;    /* the call of the selected row is shown, until the user moves */
    bool at_hottest; /* the most expensive line of the selected procedure is shown, likewise */
};

/* Whether a cell is in an area. */
bool area_contains(struct area area, int line, int column);

#endif
