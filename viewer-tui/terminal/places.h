/* Places in the views: the ones that the user visited, and the ones marked with a letter. */
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

struct mark {
    char letter;
    struct place place;
    char *what; /* description in the list of marks */
};

/* Empty if zeroed. */
struct places {
    VEC(struct place) visited; /* places after `now` were left by going back */
    size_t now;                /* index of the current place; visited.n if it is not in the list */
    VEC(struct mark) marks;
};

void place_free(struct place *place);
bool place_is(const struct place *a, const struct place *b);
void places_free(struct places *places);

/* Adds a place that the user left, and takes ownership of it. */
void places_leave(struct places *places, struct place from);

/* The place to go back or forward to from `here`, of which it takes ownership. NULL if there is none;
 * valid until the next call. */
const struct place *places_back(struct places *places, struct place here);
const struct place *places_forward(struct places *places, struct place here);

/* Marks a place, and takes ownership of it and of `what`; finds a mark (NULL: none); deletes one. */
void places_mark(struct places *places, char letter, struct place place, char *what);
const struct mark *places_marked(const struct places *places, char letter);
void places_unmark(struct places *places, size_t index);

#endif
