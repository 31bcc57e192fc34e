#include "viewer-tui/terminal/places.h"

#include <stdlib.h>
#include <string.h>

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

static void free_mark(struct mark *mark)
{
    place_free(&mark->place);
    free(mark->what);
}

void places_free(struct places *places)
{
    forget_from(places, 0);
    vec_free(&places->visited);
    for (size_t i = 0; i < places->marks.n; i++)
        free_mark(&places->marks.at[i]);
    vec_free(&places->marks);
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

static size_t index_of(const struct places *places, char letter)
{
    size_t i = 0;
    while (i < places->marks.n && places->marks.at[i].letter != letter)
        i++;
    return i;
}

void places_mark(struct places *places, char letter, struct place place, char *what)
{
    size_t i = index_of(places, letter);
    if (i == places->marks.n)
        vec_push(&places->marks, (struct mark){0});
    else
        free_mark(&places->marks.at[i]);
    places->marks.at[i] = (struct mark){letter, place, what};
}

const struct mark *places_marked(const struct places *places, char letter)
{
    size_t i = index_of(places, letter);
    return i < places->marks.n ? &places->marks.at[i] : NULL;
}

void places_unmark(struct places *places, size_t index)
{
    free_mark(&places->marks.at[index]);
    memmove(&places->marks.at[index], &places->marks.at[index + 1],
            (places->marks.n - index - 1) * sizeof *places->marks.at);
    places->marks.n--;
}
