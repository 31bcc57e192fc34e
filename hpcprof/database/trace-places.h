/* The places of a time line's records (lib/trace-format.h), each once. */
#ifndef HPCPROF_TRACE_PLACES_H
#define HPCPROF_TRACE_PLACES_H

#include "lib/alloc.h"
#include "lib/hash-tables.h"
#include "lib/trace-format.h"

/* A zeroed one is empty. */
struct trace_places {
    VEC(struct timeline_place) all;
    struct idmap contexts; /* a pair of contexts with waiters and kind -> number */
    struct idmap places;   /* that number, and counts of workers -> index in all */
};

void trace_places_free(struct trace_places *places);

/* Adds a place if it is new. */
void trace_places_add(struct trace_places *places, const struct timeline_place *place);

/* The index of a place that was added. */
uint32_t trace_places_find(const struct trace_places *places, const struct timeline_place *place);

/* Puts places into an order that does not depend on that in which they were added. */
void trace_places_sort(struct trace_places *places);

#endif
