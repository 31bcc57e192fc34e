/* Cells of the screen, and what the mouse finds there. Who draws says what it is. */
#ifndef VIEWER_SPOTS_H
#define VIEWER_SPOTS_H

#include "lib/alloc.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/view.h"

enum spot_kind {
    SPOT_NONE,
    SPOT_COMMAND, /* the name of what the command with that number shows */
    SPOT_HEAD,    /* of a column, or the names': what to sort by */
    SPOT_ROW,     /* that many below the first one that is shown */
    SPOT_MARKER,  /* the same row's sign of being open or closed */
    SPOT_SOURCE
};

struct spot {
    enum spot_kind kind;
    struct area area;
    size_t number;
    struct sorting sorting;
};

typedef VEC(struct spot) spots;

/* The last of the spots in which a cell is; one of no kind when it is in none. */
struct spot spots_at(const spots *spots, int line, int column);

#endif
