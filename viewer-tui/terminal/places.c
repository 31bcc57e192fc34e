#include "viewer-tui/terminal/places.h"

#include <stdlib.h>

static void forget_from(struct places *places, size_t first)
{
    while (places->visited.n > first)
        path_free(&places->visited.at[--places->visited.n].path);
}

void places_free(struct places *places)
{
    forget_from(places, 0);
    vec_free(&places->visited);
}

void places_leave(struct places *places, struct place from, struct place to)
{
    bool is_same = from.projection == to.projection && from.view == to.view && from.zoomed == to.zoomed &&
                   path_is(&from.path, &to.path);
    if (is_same) {
        path_free(&from.path);
    } else {
        forget_from(places, places->now);
        vec_push(&places->visited, from);
        places->now = places->visited.n;
    }
    path_free(&to.path);
}

const struct place *places_step(struct places *places, struct place here, int step)
{
    if (step < 0 ? places->now == 0 : places->now + 1 >= places->visited.n) {
        path_free(&here.path);
        return NULL;
    }
    if (places->now < places->visited.n) { /* the user may have moved since coming there */
        path_free(&places->visited.at[places->now].path);
        places->visited.at[places->now] = here;
    } else {
        vec_push(&places->visited, here);
    }
    places->now += (size_t)step;
    return &places->visited.at[places->now];
}
