#include "hpcprof/database/trace-places.h"

#include "lib/binary-search.h"

#include <stdlib.h>

static uint64_t pair_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

void trace_places_free(struct trace_places *places)
{
    vec_free(&places->all);
    idmap_free(&places->contexts);
    idmap_free(&places->places);
}

static uint32_t contexts_of(const struct trace_places *places, const struct timeline_place *place)
{
    return idmap_get(&places->contexts, pair_of(place->logical, place->physical),
                     pair_of(place->waiters, place->kind));
}

uint32_t trace_places_find(const struct trace_places *places, const struct timeline_place *place)
{
    return idmap_get(&places->places, contexts_of(places, place),
                     pair_of(place->n, place->working));
}

void trace_places_add(struct trace_places *places, const struct timeline_place *place)
{
    uint32_t contexts = contexts_of(places, place);
    uint64_t workers = pair_of(place->n, place->working);
    if (contexts == IDMAP_NONE) {
        contexts = (uint32_t)places->contexts.count;
        idmap_put(&places->contexts, pair_of(place->logical, place->physical),
                  pair_of(place->waiters, place->kind), contexts);
    }
    if (idmap_get(&places->places, contexts, workers) != IDMAP_NONE)
        return;
    idmap_put(&places->places, contexts, workers, (uint32_t)places->all.n);
    vec_push(&places->all, *place);
}

static int by_fields(const void *a, const void *b)
{
    const struct timeline_place *x = a, *y = b;
    int order = compare_unsigned(x->logical, y->logical);
    if (!order)
        order = compare_unsigned(x->physical, y->physical);
    if (!order)
        order = compare_unsigned(x->kind, y->kind);
    if (!order)
        order = compare_unsigned(x->waiters, y->waiters);
    if (!order)
        order = compare_unsigned(x->n, y->n);
    return order ? order : compare_unsigned(x->working, y->working);
}

void trace_places_sort(struct trace_places *places)
{
    if (places->all.n)
        qsort(places->all.at, places->all.n, sizeof *places->all.at, by_fields);
    for (size_t i = 0; i < places->all.n; i++) {
        const struct timeline_place *place = &places->all.at[i];
        idmap_put(&places->places, contexts_of(places, place), pair_of(place->n, place->working),
                  (uint32_t)i);
    }
}
