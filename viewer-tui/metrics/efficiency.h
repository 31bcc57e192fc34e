/* The metrics of parallel efficiency of a time event, and effort, their sum.
 *
 * A database has `work`, and where a runtime took part `overhead` and `idleness`; with several
 * time events each of them per event, "work (CPUTIME)". Effort is what the workers could have
 * done: the sum of those of the three that were measured. It is there where idleness or overhead
 * was measured; elsewhere it would be a copy of work. */
#ifndef VIEWER_EFFICIENCY_H
#define VIEWER_EFFICIENCY_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/metrics/metric.h"

enum efficiency_part { WORK, OVERHEAD, IDLENESS, EFFORT, EFFICIENCY_PARTS };

struct efficiency {
    const char *event;           /* "", or with several time events " (CPUTIME)" */
    size_t at[EFFICIENCY_PARTS]; /* indices of the metrics; metrics->n for what is not there */
};

/* Finds the event whose metric of work is at *from or behind, and moves *from on; false when there
 * is none. */
bool efficiency_next(const struct metrics *metrics, size_t *from, struct efficiency *found);

/* Appends the efforts of all events. */
void efficiency_add_efforts(struct metrics *metrics);

/* Finds the metrics that are kinds of overhead, parts of it by the kinds of tags in the runtime's
 * source, by their names: "overhead:spawn (CPUTIME)" is a kind of "overhead (CPUTIME)". Once
 * efforts have been added. */
void efficiency_find_kinds(struct metrics *metrics);

/* Adds the names of what an effort adds up, without the event: "work + idleness". */
void efficiency_add_formula(const struct metrics *metrics, size_t effort, struct text *out);

/* "work", ... */
const char *efficiency_part_name(enum efficiency_part part);

#endif
