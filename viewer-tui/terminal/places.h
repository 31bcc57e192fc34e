/* Places in the views: where the user has been, and those marked with a letter. */
#ifndef VIEWER_PLACES_H
#define VIEWER_PLACES_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/tree/row-path.h"

struct place {
    enum projection projection;
    enum view_id view;
    struct path path; /* of the selected row */
    size_t zoomed;    /* so many steps of it lead to the row that is zoomed into */
};

struct mark {
    char letter;
    struct place place;
    char *what; /* for the list of marks */
};

/* A zeroed one is empty. */
struct places {
    VEC(struct place) visited; /* what is behind `now` was left by going back */
    size_t now;                /* where the user is; visited.n when that was never left by going
                                  back or forward */
    VEC(struct mark) marks;
};

void place_free(struct place *place);
bool place_is(const struct place *a, const struct place *b);
void places_free(struct places *places);

/* The user went from a place, which is taken over, to somewhere else. */
void places_leave(struct places *places, struct place from);

/* Where to go back to, or forward, from where the user is: that place is taken over. NULL when
 * there is none; valid until the next call. */
const struct place *places_back(struct places *places, struct place here);
const struct place *places_forward(struct places *places, struct place here);

/* Marks a place, both are taken over; the mark with that letter or NULL; takes one away. */
void places_mark(struct places *places, char letter, struct place place, char *what);
const struct mark *places_marked(const struct places *places, char letter);
void places_unmark(struct places *places, size_t index);

#endif
