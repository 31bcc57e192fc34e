/* Places in the views that the user visited, to go back and forward. */
#ifndef VIEWER_PLACES_H
#define VIEWER_PLACES_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/tree/row-path.h"

struct place {
    enum projection projection;
    enum view_id view;
    struct path path; /* of the selected row */
    size_t zoomed;    /* number of its steps that lead to the row that is zoomed into */
};

/* Empty if zeroed. */
struct places {
    VEC(struct place) visited; /* places after `now` were left by going back */
    size_t now;                /* index of the current place; visited.n if it is not in the list */
};

void places_free(struct places *places);

/* Adds a place that the user left unless it is `to`. Takes ownership of both. */
void places_leave(struct places *places, struct place from, struct place to);

/* The place to go back (step -1) or forward (1) to from `here`, of which it takes ownership. NULL if there is none;
 * valid until the next call. */
const struct place *places_step(struct places *places, struct place here, int step);

#endif
