#include "viewer-tui/terminal/places.h"

void place_free(struct place *place)
{
    path_free(&place->path);
}

bool place_is(const struct place *a, const struct place *b)
{
    return a->projection == b->projection && a->view == b->view && a->zoomed == b->zoomed &&
           path_is(&a->path, &b->path);
}

static void forget_from(struct places *places, size_t first)
{
    while (places->visited.n > first)
        place_free(&places->visited.at[--places->visited.n]);
}

void places_free(struct places *places)
{
    forget_from(places, 0);
    vec_free(&places->visited);
}

void places_leave(struct places *places, struct place from)
{
    forget_from(places, places->now);
    vec_push(&places->visited, from);
    places->now = places->visited.n;
}

/* Updates the current place: the user may have moved since coming there. */
static void note_here(struct places *places, struct place here)
{
    if (places->now == places->visited.n) {
        vec_push(&places->visited, here);
        return;
    }
    place_free(&places->visited.at[places->now]);
    places->visited.at[places->now] = here;
}

const struct place *places_back(struct places *places, struct place here)
{
    if (places->now == 0) {
        place_free(&here);
        return NULL;
    }
    note_here(places, here);
    return &places->visited.at[--places->now];
}

const struct place *places_forward(struct places *places, struct place here)
{
    if (places->now + 1 >= places->visited.n) {
        place_free(&here);
        return NULL;
    }
    note_here(places, here);
    return &places->visited.at[++places->now];
}
